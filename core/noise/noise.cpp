// SPDX-License-Identifier: Apache-2.0
#include "core/noise/noise.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/noise/calls.hpp"
#include "core/noise/excuse.hpp"
#include "core/noise/gates.hpp"
#include "core/noise/gradients.hpp"
#include "core/noise/multiples.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/statistics.hpp"
#include "core/noise/terms.hpp"
#include "core/noise/update_length.hpp"
#include "core/noise/updates.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::noise {

namespace {

/// Those that look at a record, in this order.
std::vector<std::unique_ptr<Excuser>> excusers(const StepRecords& step,
                                               std::span<TensorResult> results, const Terms& terms,
                                               Carried& carried, const Ask& ask) {
  std::vector<std::unique_ptr<Excuser>> all;
  all.push_back(along_gradients(step, terms));
  Excuser& gradients = *all.back();
  all.push_back(along_gates(step, results, ask));
  all.push_back(along_calls(step, terms, carried));
  all.push_back(along_statistics(step, terms, carried));
  all.push_back(along_updates(step, results, terms, gradients, carried));
  all.push_back(along_multiples(step, results, carried));
  if (ask) all.push_back(along_ops(results, carried, ask));
  return all;
}

/// Whether any record is one that a rule may look at, beyond its limit or nearly.
bool is_any_open(std::span<const TensorResult> results, double part) {
  return std::ranges::any_of(results, [&](const TensorResult& one) {
    return is_open_to_noise(one) || may_go_on(one, part);
  });
}

}  // namespace

bool settle(const StepRecords& step, std::span<TensorResult> results, Carried& carried,
            const Ask& ask) {
  if (!step.trace) return false;
  if (!is_any_open(results, new_part(step))) {
    along_multiples(step, results, carried)->finish(results, carried);
    return false;
  }
  const Terms terms(step, results, carried);
  const auto all = excusers(step, results, terms, carried, ask);
  const auto look = [&](TensorResult& result) {
    return std::ranges::any_of(all, [&](const auto& one) { return one->look(result); });
  };
  for (TensorResult& result : results) look(result);
  bool again = false;
  for (const auto& one : all) again = one->finish(results, carried) || again;
  for (TensorResult& result : results) {
    if (again && is_open_to_noise(result)) look(result);
  }
  return std::ranges::any_of(results, [](const auto& one) { return one.allowance.has_value(); });
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
