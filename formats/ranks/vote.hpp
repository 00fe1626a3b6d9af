// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which value is the usual one of something that all files of a checkpoint should state alike.

#include <algorithm>
#include <cstddef>
#include <optional>

namespace ttcheck::formats {

/// The value that most state, of those that `fits` takes if it takes any; none on a tie, since then
/// nothing tells which are wrong. `votes` maps a value to the list of those who state it.
template <typename Votes, typename Fits>
std::optional<typename Votes::key_type> usual_of(const Votes& votes, const Fits& fits) {
  const bool any = std::ranges::any_of(votes, [&](const auto& vote) { return fits(vote.first); });
  std::optional<typename Votes::key_type> usual;
  std::size_t most = 0;
  for (const auto& [value, holders] : votes) {
    if ((any && !fits(value)) || holders.size() < most) continue;
    usual.reset();
    if (holders.size() > most) usual = value;
    most = holders.size();
  }
  return usual;
}

template <typename Votes>
std::optional<typename Votes::key_type> usual_of(const Votes& votes) {
  return usual_of(votes, [](const auto&) { return true; });
}

}  // namespace ttcheck::formats
