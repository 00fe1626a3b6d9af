// SPDX-License-Identifier: Apache-2.0
#pragma once
// A logical tensor: dtype, shape, and pieces that fill its box. Nothing is ever merged; whoever
// needs values reads a range through `core/model/gather.hpp`.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/model/identity.hpp"
#include "core/model/piece.hpp"
#include "core/model/placement.hpp"
#include "core/model/record.hpp"

namespace ttcheck {

/// How far a number may lie from what it was rounded from: |b-a| <= atol + rtol |a|.
struct Rounding {
  double rtol = 0, atol = 0;
  std::string source;  ///< in words
};

struct Tensor {
  Identity identity;
  Kind kind = Kind::weight;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<Piece>
      pieces;  ///< cover the box without overlap; the lowest rank's of each replica set
  std::vector<Piece> replicas;   ///< further copies of boxes that `pieces` has, rank ascending
  Reduce reduce = Reduce::none;  ///< sum, avg, max: `terms` are full addends, reduced in rank order
  std::int64_t mean_of = 0;  ///< with avg: what the sum of `terms` is divided by; 0: their number
  std::vector<std::vector<Piece>>
      terms;  ///< with reduce: one full set of pieces per rank of the axis
  std::vector<std::vector<Piece>>
      term_replicas;        ///< with reduce: further copies of terms[i]'s boxes
  std::vector<Box> holes;   ///< parts of the box that no piece fills
  bool undeclared = false;  ///< nothing says whether `replicas` are copies or addends
  bool by_shape = false;    ///< ranks' parts were placed by the other side's shape alone
  bool by_rank = false;     ///< the parts of ranks stand one behind the other, whatever they are
  bool stored = true;       ///< false: bytes were not kept, only `trace` has hash or stats
  std::shared_ptr<const TraceRecord> trace;    ///< of the first piece; null for checkpoints
  std::shared_ptr<const Placement> placement;  ///< of the first piece; null where none was written
  /// What each rank recorded, where bytes were not kept and several ranks hold the tensor.
  std::vector<std::pair<std::int32_t, std::shared_ptr<const TraceRecord>>> recorded;
  std::shared_ptr<const Rounding> rounding;  ///< of values that were kept in fewer bits; else null
  std::int64_t order = 0;                    ///< place in the file or the step, for stable listing
};

/// All ranks that hold a piece, replica or term, ascending; empty when the format has no ranks.
std::vector<std::int32_t> ranks_of(const Tensor& tensor);

/// Whether its op is named by a counter: the same names may be other ops in another run.
bool is_counted(const Tensor& tensor);

/// What the sum of the addends of a mean is divided by.
double divisor_of(const Tensor& tensor);

/// Bytes of the logical tensor; 0 for one whose size overflows.
std::uint64_t logical_bytes(const Tensor& tensor);

}  // namespace ttcheck
