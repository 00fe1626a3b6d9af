#pragma once
// What two stored states are to each other, as far as the states show it.

#include <array>
#include <cstdint>
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

struct Relation {
  RelationKind kind = RelationKind::copies;
  double weights = 0;    ///< how far they are apart: sum |b - a| / sum |a|, the median of tensors
  double moments = -1;   ///< the same of an optimizer's moments; negative: both sides have none
  std::string evidence;  ///< in words
};

}  // namespace ttcheck
