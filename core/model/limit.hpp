// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much two tensors may differ, and where that number came from.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ttcheck {

enum class LimitKind : std::uint8_t {
  exact,      ///< no difference of value
  copy,       ///< exact, because the two checkpoints are copies of each other
  tolerance,  ///< elementwise |b-a| <= atol + rtol |a|; the error is the largest quotient, the
              ///< limit 1
  model,      ///< dtype, reduction length and depth; row and outlier tests apply
  measured,   ///< from a limits file; row and outlier tests apply
  state,      ///< of a stored state: by its relation to the other, and by its siblings
};

inline constexpr std::array<std::string_view, 6> kLimitKinds = {"exact", "copy",     "tolerance",
                                                                "model", "measured", "state"};
constexpr std::string_view name(LimitKind kind) {
  return kLimitKinds[static_cast<std::size_t>(kind)];
}

struct Limit {
  LimitKind kind = LimitKind::exact;
  double rel = 0;      ///< largest rel (or quotient) that is noise
  double row = 0;      ///< largest worst-row error; 0: no row test
  double outlier = 0;  ///< largest |b-a| / max(|a|, rms of A); 0: no outlier test
  double rtol = 0, atol = 0;
  double op = 0;  ///< of these kinds: what the round-off of one op alone comes to, relative
  /// A limit of kind state bounds Moved::distance by `rel`, its block by `row`, its spike by
  /// `outlier`. What is beyond `odd` in the distance, or beyond these, differs otherwise than its
  /// siblings. Where `open`, nothing decides what lies between `rel` and `odd`.
  double odd = 0;
  bool open = false;
  double measured = 0;  ///< of kind measured: the largest rel that correct runs showed
  std::string source;  ///< in words, printed beside the number: "bf16 model: 8 eps x sqrt(depth 3)"
  std::string group{};  ///< the words for all limits that were made alike; empty: `source`

  const std::string& words() const { return group.empty() ? source : group; }
  /// Says more of what it comes from, in both.
  void say(std::string_view more) {
    source += more;
    if (!group.empty()) group += more;
  }
};

}  // namespace ttcheck
