// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/tally.hpp"

#include <utility>

namespace ttcheck::verdict {
namespace {

void count_one(Outcome outcome, const std::string& limit, const std::string& rule,
               std::optional<std::int64_t> step, Tally& tally) {
  ++tally.outcomes[static_cast<std::size_t>(outcome)];
  if (!limit.empty()) ++tally.limits[limit];
  ++tally.rules[rule.empty() ? "same" : rule];
  if (step) tally.steps.insert(*step);
}

}  // namespace

void count_kept(std::span<const TensorResult> results, Tally& tally) {
  for (const TensorResult& one : results) {
    if (one.is_borderline()) ++tally.borderline;
    const std::string words = one.limit.words();
    if (one.outcome() == Outcome::equal) {
      count_equal(one.cast, words, one.rule, one.step, tally);
    } else {
      count_one(one.outcome(), words, one.rule, one.step, tally);
    }
  }
}

void count_equal(const std::string& cast, const std::string& limit, const std::string& rule,
                 std::optional<std::int64_t> step, Tally& tally) {
  if (!cast.empty()) ++tally.casts[cast];
  count_one(Outcome::equal, limit, rule, step, tally);
}

void add_tally(const Tally& part, Tally& whole) {
  for (std::size_t i = 0; i < whole.outcomes.size(); ++i) whole.outcomes[i] += part.outcomes[i];
  whole.borderline += part.borderline;
  const auto add = [](const auto& from, auto& to) {
    for (const auto& [word, count] : from) to[word] += count;
  };
  add(part.casts, whole.casts);
  add(part.limits, whole.limits);
  add(part.rules, whole.rules);
  whole.steps.insert(part.steps.begin(), part.steps.end());
}

void add_result(TensorResult&& result, bool keep_equal, Verdict& verdict) {
  if (result.outcome() == Outcome::equal && !keep_equal) {
    return count_equal(result.cast, result.limit.words(), result.rule, result.step, verdict.tally);
  }
  verdict.tensors.push_back(std::move(result));
}

}  // namespace ttcheck::verdict
