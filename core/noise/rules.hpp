// SPDX-License-Identifier: Apache-2.0
#pragma once
// The rules of chance: what two correct runs may make differ beyond what rounding does to values. A
// rule excuses a record that is beyond its limit only where both sides show what it rests on.

#include <span>
#include <string_view>

namespace ttcheck::noise {

/// One row.
struct ChanceRule {
  std::string_view name;        ///< as TensorResult::allowance has it
  std::string_view of;          ///< the records that it may excuse
  std::string_view allows;      ///< by how much they may differ: the amount
  std::string_view derivation;  ///< why
  std::string_view reads;       ///< the evidence, of both sides
  bool earlier = true;          ///< it may rest on what earlier steps left
};

inline constexpr std::string_view kTerms = "terms";
inline constexpr std::string_view kGates = "gates";
inline constexpr std::string_view kUpdate = "update";
inline constexpr std::string_view kMultiple = "multiple";
inline constexpr std::string_view kStands = "stands";
inline constexpr std::string_view kAdded = "added";
inline constexpr std::string_view kMade = "made";
inline constexpr std::string_view kPassedOn = "passed-on";

/// The rows in the order in which chance goes through a step.
std::span<const ChanceRule> rules();

/// The row of that name. REQUIRES that there is one.
const ChanceRule& rule_named(std::string_view name);

}  // namespace ttcheck::noise
