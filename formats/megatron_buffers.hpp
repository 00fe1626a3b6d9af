// SPDX-License-Identifier: Apache-2.0
#pragma once
// The buffers of Megatron's distributed optimizer (`distrib_optim.pt`): fp32 copies of the
// parameters and their moments, laid end to end in an order that no file states. The order is
// computed as the writer does, and taken only when the copies, rounded, are the weights.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/gather.hpp"
#include "core/model/run.hpp"
#include "formats/megatron_args.hpp"
#include "formats/torch_file.hpp"

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

/// A view into a buffer: state of a parameter.
struct BufferSlice {
  std::string name;  ///< `<param>@<key>`
  TorchTensor tensor;
};

/// The slices of all buffers whose layout is proved; findings and counts for the others go to
/// `state`. Reads some elements of each parameter.
std::vector<BufferSlice> read_buffers(const TorchFile& file,
                                      const std::vector<BufferParameter>& parameters,
                                      const MegatronArgs& args, State& state);

/// The slices of `file`, which lies in the place of `due`: the buffers of `due` fit the weights,
/// and those of `file` are cut in the same places, as who loads it would. Of other sizes:
/// unreadable.
std::vector<BufferSlice> read_exchanged(const TorchFile& file, const TorchFile& due,
                                        const std::vector<BufferParameter>& parameters,
                                        const MegatronArgs& args, State& state);

/// A buffer's elements, wherever they lie: pieces with cells in its coordinates, or one without.
struct BufferRow {
  DType dtype = DType::f32;
  std::int64_t size = 0;
  std::vector<Piece> pieces;
  std::vector<LinearRange> holes = {};  ///< that no piece covers; nothing is compared there
};

/// The places in a buffer at which its parameters start (reversed model order), and where the last
/// ends.
struct BufferLayout {
  std::vector<std::int64_t> starts;
  std::int64_t end = 0;
};

/// The layout of a buffer for parameters of these sizes. Starts are multiples of 64 within a
/// bucket. A bucket ends once it holds `bucket_size` elements (0: never); what fills it up is not
/// stored (param_and_grad_buffer.py, distrib_optimizer.py in megatron/core). `alone[i]`: parameter
/// i has a bucket of its own; may be empty.
BufferLayout buffer_layout(const std::vector<std::int64_t>& sizes, std::int64_t bucket_size,
                           const std::vector<bool>& alone);

/// The layout for buckets of these sizes, which may hold padding at the end: each takes what fits.
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

/// The first fit in which all copies are the weights; else the best of those that fill the buffer
/// and in which most are; else of those in which they vary with the weights. `dtype`: of the
/// parameters. `buckets`: their sizes, if they are known.
std::optional<BufferFit> fit_buffer(const BufferRow& masters, DType dtype,
                                    const std::vector<BufferParameter>& parameters,
                                    const MegatronArgs& args,
                                    std::span<const std::int64_t> buckets);

/// TT507 for copies of another step than the weights, else TT404 for each that is not the weight.
std::vector<Finding> findings_of(const BufferFit& fit, DType masters, const Where& where);

}  // namespace ttcheck::formats
