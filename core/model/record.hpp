// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a format hands out: one stored array of one rank, before the ranks are put together.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/identity.hpp"
#include "core/model/mesh.hpp"
#include "core/model/piece.hpp"
#include "core/model/placement.hpp"

namespace ttcheck {

/// Smallest, largest, mean, norm and counts that a dump stored in place of (or beside) the bytes;
/// nothing for what it did not store.
struct StoredStats {
  double min = 0, max = 0;  ///< of complex numbers: of their absolute values
  std::optional<double> mean, l2;
  std::optional<std::int64_t> nan, inf;
  std::int64_t numel = 0;
  std::optional<double> l1;  ///< the sum of absolute values
};

/// What tells where an op stands among those of its rank, for formats that name ops by a counter
/// (the tenth addition), so that one more of them renames all that follow.
struct CountedOp {
  std::string base;    ///< its name without the counter; empty: names are the same from run to run
  std::string within;  ///< the module's call that ran it, as `module_of` names it; empty for a
                       ///< module's own call, and where it is not known
  bool moves = false;  ///< it moves values (a view, a copy) and computes none
};

/// What of an op's call a tensor is; but for outputs, a gradient.
enum class OpPart : std::uint8_t { output, argument, weight, bias };

/// One call of an op as the format itself tells it, for formats whose names do not: records of the
/// same rank and step by their names, an empty one where no tensor stands or none was dumped.
struct OpCall {
  OpPart part = OpPart::output;  ///< what the record is
  std::size_t slot = 0;          ///< which output or argument
  std::vector<std::string> arguments;
  std::string weight, bias;
  std::vector<std::string> gradients;  ///< that arrived at its outputs
};

/// What only traces know of a tensor.
struct TraceRecord {
  std::int64_t seq = 0;  ///< per-rank order within the step
  std::string op;        ///< operation type, e.g. "linear"; may be empty
  std::vector<std::pair<std::string, std::string>> attrs;  ///< op's attributes: key, JSON text
  std::vector<std::string> inputs;  ///< identities consumed: `[phase:]module/kind.slot`
  std::optional<OpCall> call;       ///< of `op`; nothing: names and `inputs` tell it
  std::string owner;                ///< the parameter's canonical name, for grad, moment*, master
  std::optional<StoredStats> stats;
  std::string hash;  ///< `xxh3:<16 hex>` (or `crc32:`...) of the local bytes; may be empty
  CountedOp counted;
  std::vector<std::pair<std::string, std::string>> other;  ///< undefined fields: key, JSON text
  /// The spacing of numbers that were kept as decimal text over their size, 1e-4 for five digits;
  /// 0: they are exact.
  double grain = 0;
  std::int64_t left_out = 0;  ///< elements that the dump itself did not keep: `holes` of the record
};

/// A row of elements cut out of a block's row-major order: how ZeRO and Megatron's distributed
/// optimizer store a rank's share of a parameter.
struct FlatRange {
  Shape block;
  std::int64_t begin = 0;  ///< the first of them; there are as many as the array holds

  bool operator==(const FlatRange&) const = default;
};

/// One rank's stored array.
struct Record {
  Identity identity;
  Kind kind = Kind::weight;
  DType dtype = DType::f32;
  Shape shape;  ///< of this rank's array
  Piece piece;  ///< cells in coordinates of this array (empty: row-major)
  /// Where the array lies in the logical tensor, one of three: `box_lo` within `logical` (a
  /// self-describing format), `placement` (dims grammar; `logical` if the shape was stated), or
  /// neither: it is the whole tensor, and other ranks' are replicas.
  std::optional<Shape> logical;
  std::optional<Extents> box_lo;
  std::optional<FlatRange> flat;  ///< with `box_lo`: where the block starts that it is cut from
  std::shared_ptr<const Placement> placement;
  Coordinates at;           ///< of its rank (and `mb`)
  bool undeclared = false;  ///< neither, and ranks need not hold the same
  bool by_shape = false;    ///< `box_lo` was told from the other side's shape alone
  bool by_rank = false;     ///< `box_lo` puts it behind the ranks' before it, as nothing is stated
  std::vector<Box> holes;   ///< of this array, where a dump keeps some of its elements only
  bool stored = true;       ///< false: only hash, stats and shape are known
  bool again = false;       ///< the rank's second computation of it: another copy
  std::shared_ptr<const TraceRecord> trace;  ///< null for checkpoints
};

}  // namespace ttcheck
