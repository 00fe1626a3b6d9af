#include "core/noise/noise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/noise/calls.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/statistics.hpp"
#include "core/noise/terms.hpp"
#include "core/noise/updates.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::noise {

bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried) {
  if (!step.trace) return false;
  const Terms terms(step, results, carried);
  const bool gradients = settle_gradients(step, results, terms);
  const bool calls = settle_calls(step, results, terms, carried);
  const bool statistics = settle_statistics(step, results, terms, carried);
  const bool updates = settle_updates(step, results, terms, carried);
  return gradients || calls || statistics || updates;
}

std::optional<Finding> note_of(std::span<const TensorResult> results) {
  std::int64_t all = 0;
  std::vector<std::string> words;
  for (const ChanceRule& rule : rules()) {
    const auto count = std::ranges::count_if(results, [&](const TensorResult& one) {
      return one.allowance && one.allowance->rule == rule.name;
    });
    if (count > 0) words.push_back(fmt::format("{} by {}", count, rule.name));
    all += count;
  }
  if (all == 0) return std::nullopt;
  return verdict::note(
      Code::unmeasured_noise, results.front().step,
      fmt::format(
          "{} records are beyond their limits by chance alone: {} (the rules: ttcheck explain "
          "TT606)",
          all, fmt::join(words, ", ")));
}

}  // namespace ttcheck::noise
