// SPDX-License-Identifier: Apache-2.0
#include "cli/usage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace ttcheck::cli {
namespace {

/// Levenshtein distance where a swap of neighbours is one edit.
std::size_t edits(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differ = a[i - 1] == b[j - 1] ? 0 : 1;
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + differ});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
      }
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 64;  // a longer one is no typing error
  const std::size_t size = word.size() - std::min(word.find_first_not_of('-'), word.size());
  if (size == 0 || size > kLongestWord) return "";
  std::string best;
  std::size_t least = std::max<std::size_t>(size / 3, 1);  // more edits make another word
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edits(word, candidate);
    if (distance <= least && (best.empty() || distance < least)) {
      best = candidate;
      least = distance;
    }
  }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string found = nearest(word, candidates);
  return found.empty() ? "" : fmt::format("; did you mean '{}'?", found);
}

}  // namespace ttcheck::cli
