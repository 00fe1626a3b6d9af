#pragma once
// Two stored states: in which relation they are, and what that lets each tensor differ by.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/model/kind.hpp"
#include "core/model/limit.hpp"
#include "core/model/metrics.hpp"
#include "core/model/relation.hpp"

namespace ttcheck::limits {

/// A tensor of two states that both have, as it was compared.
struct Stored {
  std::string_view name;  ///< the reference's
  Kind kind = Kind::weight;
  std::int64_t count = 0;    ///< elements
  std::int64_t unequal = 0;  ///< of them
  bool equal = false;        ///< bit for bit, or under a cast
  bool constant = false;     ///< all elements of the reference are the same
  bool bias = false;         ///< it may have begun at zero
  bool mapped = false;       ///< a map made one side, so that both may be rounded from a third
  double max_rel = 0;        ///< largest |b - a| / max(|a|, |b|)
  double outlier = std::numeric_limits<double>::infinity();  ///< largest |b - a| / max(|a|, rms of
                                                             ///< A), where it was asked
  double eps = 0;                                            ///< of the coarser of the two dtypes
  Moved moved;                                               ///< all zero where equal

  /// Whether it may show that the states are copies.
  bool tells() const { return !constant && !mapped; }
};

/// Nothing differs: copies.
Relation relate(std::span<const Stored> states);

/// Where it may matter for `relate` what an outlier is.
bool asks_outliers(std::span<const Stored> states);

/// For each, in their order; nothing of those that a map made between copies, which the model of
/// rounding tells.
std::vector<std::optional<Limit>> state_limits(std::span<const Stored> states,
                                               const Relation& relation);

}  // namespace ttcheck::limits
