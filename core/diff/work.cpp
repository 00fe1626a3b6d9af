// SPDX-License-Identifier: Apache-2.0
#include "core/diff/work.hpp"

#include <unordered_map>

namespace ttcheck::diff {

Work some_of(const Work& all, const std::vector<std::size_t>& wanted) {
  Work some;
  some.context = all.context;
  some.known_counted = all.known_counted;
  some.known_equal = all.known_equal;
  some.known = all.known;
  some.rate = all.rate;
  std::unordered_map<std::size_t, std::size_t> places;  // in `some`, by place in `all`
  for (const std::size_t i : wanted) {
    places.emplace(i, some.pairs.size());
    some.pairs.push_back(all.pairs[i]);
    some.places.push_back(all.places[i]);
    some.rules.push_back(all.rules[i]);
  }
  for (const Alternative& alternative : all.alternatives) {
    const auto found = places.find(alternative.pair);
    if (found == places.end()) continue;
    some.alternatives.push_back({found->second, alternative.other, alternative.parts});
  }
  return some;
}

std::vector<char> with_other_ways(const Work& work) {
  std::vector<char> has(work.pairs.size());
  for (const Alternative& other : work.alternatives) has[other.pair] = 1;
  return has;
}

Work without(const Work& all, const std::vector<std::size_t>& taken) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0, next = 0; i < all.pairs.size(); ++i) {
    if (next < taken.size() && taken[next] == i) {
      ++next;
    } else {
      others.push_back(i);
    }
  }
  return some_of(all, others);
}

std::uint64_t bytes_of(const Work& work) {
  std::uint64_t bytes = 0;
  for (const compare::Pair& pair : work.pairs) bytes += 2 * logical_bytes(*pair.reference);
  return bytes;
}

void put_back(const Work& some, const std::vector<std::size_t>& wanted, Work& all) {
  for (std::size_t n = 0; n < wanted.size(); ++n) all.pairs[wanted[n]] = some.pairs[n];
}

}  // namespace ttcheck::diff
