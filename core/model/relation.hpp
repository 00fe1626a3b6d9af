// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two stored states are to each other, as far as the states show it.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ttcheck {

enum class RelationKind : std::uint8_t {
  copies,         ///< one state stored twice: what is not equal is damage
  same_training,  ///< the same updates, in other arithmetic
  trained_apart,  ///< other updates: data, rate, seed, number of steps
  undecided       ///< more than rounding, and less than training shows by itself
};

inline constexpr std::array<std::string_view, 4> kRelations = {"copies", "same-training",
                                                               "trained-apart", "undecided"};
constexpr std::string_view name(RelationKind kind) {
  return kRelations[static_cast<std::size_t>(kind)];
}

/// How far two states are apart, A and B, beside how far they came from an ancestor of both, C.
struct WaySince {
  double apart = 0;    ///< sum |b - a| / the larger of sum |a - c| and sum |b - c|
  double gone = 0;     ///< the larger of these / sum |a|
  double further = 0;  ///< -1 to 1: whether B went beyond A; 0 of two that came equally far
  double along = 0;    ///< cosine of b - a and a, as of another weight decay
  double longest = 0;  ///< largest min(|a - c|, |b - c|) of one element / rms of A

  bool operator==(const WaySince&) const = default;
};

struct Relation {
  RelationKind kind = RelationKind::copies;
  double weights = 0;   ///< how far they are apart: sum |b - a| / sum |a|, the median of tensors
  double moments = -1;  ///< the same of an optimizer's moments; negative: both sides have none
  double updates = -1;  ///< rms of b - a of a weight over the learning rate, the median of tensors;
                        ///< negative: no rate is known, or no store is fine enough
  double steps = 0;     ///< updates that the optimizer counted
  bool measured = false;        ///< beside what was measured of correct runs
  bool lone = false;            ///< one value of all is off by one rounding, or a few by little
  std::optional<WaySince> way;  ///< medians of tensors; nothing without an ancestor that tells
  std::string base;             ///< the ancestor's path; empty: none
  std::string evidence;         ///< in words
};

}  // namespace ttcheck
