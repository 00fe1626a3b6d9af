// SPDX-License-Identifier: Apache-2.0
#include "core/diff/trained_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "core/limits/siblings.hpp"
#include "core/locate/first.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::size_t kFamilies = 4;  ///< of which a cause is looked for

/// Differs otherwise than siblings that are apart as well.
bool is_odd(const TensorResult& result) {
  return result.odd && (result.limit.open || result.limit.rel < result.limit.odd);
}

template <class Values>
void reorder(Values& values, std::span<const std::size_t> order) {
  Values again;
  again.reserve(values.size());
  for (const std::size_t i : order) again.push_back(std::move(values[i]));
  values = std::move(again);
}

}  // namespace

bool moved_along(const TensorResult& result) {
  return result.test == Test::moved && !result.odd && result.outcome() == Outcome::diverged;
}

std::vector<std::size_t> set_apart(std::span<const TensorResult> results,
                                   std::vector<std::size_t>& diverged) {
  std::vector<std::size_t> moved;
  std::set<std::string> families;
  std::vector<std::size_t> kept;
  for (const std::size_t i : diverged) {
    if (!moved_along(results[i])) {
      kept.push_back(i);
      continue;
    }
    moved.push_back(i);
    const bool fresh = families.size() < kFamilies &&
                       families.insert(limits::siblings_of(results[i].identity.name)).second;
    if (fresh) kept.push_back(i);
  }
  diverged = std::move(kept);
  return moved;
}

void name_odd(std::span<const TensorResult> results, std::vector<std::size_t>& diverged,
              std::vector<Finding>& findings) {
  std::vector<std::size_t> order(diverged.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](std::size_t n) {
    const TensorResult& one = results[diverged[n]];
    return is_odd(one) ? one.ratio : 0;
  };
  std::ranges::stable_sort(order, std::ranges::greater(), rank);
  reorder(diverged, order);
  reorder(findings, order);
  for (std::size_t n = 0; n < diverged.size(); ++n) {
    if (!is_odd(results[diverged[n]])) continue;
    Finding& finding = findings[n];
    if (verdict::names_cause(finding)) {
      finding.message += fmt::format("; {}", info(finding.code).name);
    }
    finding.code = Code::odd_one_out;
  }
}

void tell_apart(const MetStep& met, std::span<const TensorResult> results,
                std::span<const std::size_t> moved, std::vector<std::size_t>& diverged,
                std::vector<Finding>& findings, const DiffContext& context, Verdict& verdict) {
  bool explained = true;
  std::vector<std::size_t> kept;
  for (std::size_t n = 0; n < diverged.size(); ++n) {
    const bool stands = moved_along(results[diverged[n]]);
    if (stands && !verdict::names_cause(findings[n])) explained = false;
    if (!stands || verdict::names_cause(findings[n])) kept.push_back(n);
  }
  reorder(diverged, kept);
  reorder(findings, kept);
  if (explained) return;
  const TensorResult& first = results[moved.front()];
  Finding finding = verdict::divergence_finding(first, context.candidate.mesh);
  finding.code = Code::trained_apart;
  finding.next = context.next_of(first);
  finding.why = 0;
  finding.message =
      fmt::format("{} of {} {} {} apart as training moves them, and none of that is rounding: {}",
                  moved.size(), met.pairs.size(), met.pairs.size() == 1 ? "tensor" : "tensors",
                  moved.size() == 1 ? "is" : "are",
                  verdict.relation ? verdict.relation->evidence : finding.message);
  findings.insert(findings.begin(), std::move(finding));
  diverged.insert(diverged.begin(), moved.front());
  const auto odd =
      std::ranges::find_if(diverged, [&](std::size_t i) { return is_odd(results[i]); });
  if (odd != diverged.end()) {
    verdict.first = locate::divergence_of(results[*odd], std::nullopt, context.candidate.mesh);
  }
}

}  // namespace ttcheck::diff
