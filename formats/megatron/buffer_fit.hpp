// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where in a buffer of Megatron's distributed optimizer each parameter lies: the orders that the
// writer may have used, and the one by which the copies in it, rounded, are the weights.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/gather.hpp"
#include "formats/megatron/args.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// A rank's parameter, in the model's order.
struct BufferParameter {
  std::string name;
  TorchTensor weight;
  std::size_t chunk = 0;  ///< of the model, in the stage
  bool expert = false;    ///< of one of the experts
  bool tied = false;      ///< shared with another stage
  /// The pieces of a weight that lies in several, in place of that of `weight`: cells in
  /// coordinates of its row-major order.
  std::vector<Piece> parts = {};
};

/// True when the tensor is one row of plain little-endian elements, which can be cut anywhere.
bool is_plain(const TorchTensor& tensor);

/// A buffer's elements, wherever they lie: pieces with cells in its coordinates, or one without.
struct BufferRow {
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::vector<Piece> pieces;
  std::vector<LinearRange> holes = {};  ///< that no piece covers; nothing is compared there
};

/// Takes a tensor as a row; its elements lie in `parts`, where given.
BufferRow row_of(const TorchTensor& tensor, const std::vector<Piece>& parts = {});

/// The places in a buffer at which its parameters start (reversed model order), and where the last
/// ends.
struct BufferLayout {
  std::vector<std::int64_t> starts;
  std::int64_t end = 0;
};

/// Lays parameters of these sizes out in a buffer. Starts are multiples of 64 within a
/// bucket. A bucket ends once it holds `bucket_size` elements (0: never); what fills it up is not
/// stored (param_and_grad_buffer.py, distrib_optimizer.py in megatron/core). `alone[i]`: parameter
/// i has a bucket of its own; may be empty.
BufferLayout buffer_layout(const std::vector<std::int64_t>& sizes, std::int64_t bucket_size,
                           const std::vector<bool>& alone);

/// Fills buckets of these sizes, which may hold padding at the end: each takes what fits.
/// None when the parameters do not fit.
std::optional<BufferLayout> buffer_layout(const std::vector<std::int64_t>& sizes,
                                          std::span<const std::int64_t> buckets);

/// A layout of a buffer with what speaks for it.
struct BufferFit {
  std::vector<const BufferParameter*> members;
  BufferLayout layout;
  std::vector<const BufferParameter*> disagree;  ///< whose copies are not the weights
  /// True where most are not, and yet vary with the weights: they are from another step.
  bool another_step = false;
};

/// Finds the first fit in which all copies are the weights; else the best that fills the buffer and
/// in which most are; else of those in which they vary with the weights. `dtype`: of the
/// parameters. `buckets`: their sizes, if they are known.
std::optional<BufferFit> fit_buffer(const BufferRow& masters, DType dtype,
                                    const std::vector<BufferParameter>& parameters,
                                    const MegatronArgs& args,
                                    std::span<const std::int64_t> buckets);

/// Gives TT507 for copies of another step, else TT404 for each that is not the weight.
std::vector<Finding> findings_of(const BufferFit& fit, DType masters, const Where& where);

}  // namespace ttcheck::formats
