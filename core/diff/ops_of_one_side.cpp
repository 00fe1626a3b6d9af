// SPDX-License-Identifier: Apache-2.0
#include "core/diff/ops_of_one_side.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <unordered_set>
#include <vector>

namespace ttcheck::diff {
namespace {

constexpr std::size_t kMostNamed = 3;
constexpr std::size_t kMostBetween = 3;

bool has_place(const Tensor& tensor) { return tensor.trace && !tensor.pieces.empty(); }

std::int64_t place_of(const Tensor& tensor) { return tensor.trace->seq; }

/// Outputs of the same rank and pass that stand alone in one row before `own`, in their order; few
/// that do not stand between (a weight is turned, a view taken).
std::vector<const Tensor*> shortly_before(const Tensor& own, std::span<const Tensor> all,
                                          std::span<const std::size_t> alone) {
  const std::unordered_set<std::size_t> lone(alone.begin(), alone.end());
  std::vector<std::size_t> before;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor& tensor = all[i];
    if (has_place(tensor) && tensor.kind == Kind::output &&
        tensor.identity.phase == own.identity.phase &&
        tensor.identity.microbatch == own.identity.microbatch &&
        tensor.pieces.front().rank == own.pieces.front().rank && place_of(tensor) < place_of(own)) {
      before.push_back(i);
    }
  }
  std::ranges::stable_sort(before, {}, [&](std::size_t i) { return -place_of(all[i]); });
  std::vector<const Tensor*> found;
  std::size_t between = 0;
  for (const std::size_t i : before) {
    if (lone.contains(i)) {
      found.push_back(&all[i]);
    } else if (!found.empty() || ++between > kMostBetween) {
      break;
    }
  }
  std::ranges::reverse(found);
  return found;
}

std::string words_of_side(const Tensor& own, std::span<const Tensor> all,
                          std::span<const std::size_t> alone, std::string_view side) {
  if (!has_place(own)) return "";
  const auto found = shortly_before(own, all, alone);
  if (found.empty()) return "";
  std::vector<std::string_view> names;
  for (std::size_t i = found.size() - std::min(found.size(), kMostNamed); i < found.size(); ++i) {
    names.push_back(found[i]->identity.name);
  }
  const std::size_t more = found.size() - names.size();
  return fmt::format("only the {} has {}{}", side, fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::string lone_ops_words(const MetStep& met, const TensorResult& head) {
  const auto& [reference, candidate, compared] = met.pairs[head.pair];
  std::vector<std::string> words = {
      words_of_side(*candidate, met.candidate(), met.alignment.only_candidate, "candidate"),
      words_of_side(*reference, met.reference(), met.alignment.only_reference, "reference")};
  std::erase(words, "");
  return words.empty() ? "" : fmt::format("; shortly before it {}", fmt::join(words, ", "));
}

}  // namespace ttcheck::diff
