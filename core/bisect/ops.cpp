// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/bisect/bisect.hpp"
#include "core/bisect/op_search.hpp"
#include "core/diff/after_steps.hpp"
#include "core/diff/diff.hpp"
#include "core/diff/head.hpp"
#include "core/diff/judge_together.hpp"
#include "core/diff/judge_unread.hpp"
#include "core/diff/keep_parameters.hpp"
#include "core/diff/meet.hpp"
#include "core/diff/tell_step.hpp"
#include "core/locate/first.hpp"
#include "core/noise/apart_after.hpp"
#include "core/noise/noise.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::bisect {
namespace {

/// The answer where the first bad record has no bytes: all of these are judged as they are read, so
/// there is nothing to search.
void name_unstored(std::span<const TensorResult> results, std::size_t first, Search& search) {
  const std::string_view op = module_of(results[first].identity);
  search.first_bad_op = std::string(op);
  for (std::size_t i = first; i-- > 0;) {
    if (results[i].outcome() == Outcome::diverged || module_of(results[i].identity) == op) continue;
    search.last_good_op = std::string(module_of(results[i].identity));
    return;
  }
}

/// Whether some of what was found is noise of gradients and what comes of it. That is judged in
/// order, and only when all records are there.
bool may_be_noise(const diff::MetStep& met, std::span<const TensorResult> results,
                  const diff::DiffContext& context) {
  std::vector<TensorResult> tried(results.begin(), results.end());
  noise::Carried carried = context.memory.noise;
  return noise::settle(records_of(met, context), tried, carried);
}

/// Puts what was looked at, from the result `before` on, in order, and sees it as a whole.
void conclude(diff::MetStep& met, bool all, std::size_t before, diff::DiffContext& context,
              Verdict& verdict) {
  const auto results = [&] { return std::span(verdict.tensors).subspan(before); };
  if (all) diff::judge_evidence(met, context, verdict);
  std::ranges::stable_sort(results(), {}, &TensorResult::pair);
  if (all) {
    diff::judge_together(met, results(), context);
    diff::drop_evidence(met, before, verdict);
    if (auto note = noise::note_of(results())) verdict.findings.push_back(*std::move(note));
  } else {
    context.memory.noise.apart = noise::apart_after(results(), context.memory.noise.apart);
  }
  diff::tell_step(met, results(), context, verdict);
}

/// Adds what the search of one step came to.
void add(const OpSearch& ops, std::span<const TensorResult> results, Search& search,
         Verdict& verdict) {
  const auto unstored = std::ranges::count_if(
      results, [&](const TensorResult& result) { return !ops.place_of(result); });
  search.examined += static_cast<std::int64_t>(ops.looked()) + unstored;
  search.total += static_cast<std::int64_t>(ops.total()) + unstored;
  search.bytes_total += ops.bytes();
  search.log.insert(search.log.end(), ops.log().begin(), ops.log().end());
  const auto left = static_cast<std::int64_t>(ops.total() - ops.looked());
  if (left > 0) verdict::exclude(verdict.coverage, "bisect", left);
}

/// Searches one step; true when something in it is bad.
bool search_step(const StepPair& steps, diff::DiffContext& context, Verdict& verdict,
                 Search& search) {
  const auto read = [&] { return context.reference.bytes_read() + context.candidate.bytes_read(); };
  const std::size_t before = verdict.tensors.size();
  const std::uint64_t read_before = read();
  std::optional<diff::MetStep> met = diff::meet_step(steps, context, verdict);
  if (met) diff::judge_unread(*met, context, verdict);
  search.bytes_total += read() - read_before;
  if (!met) return false;
  OpSearch ops(*met, context, verdict);
  const auto suspect = ops.run();
  const auto results = [&] { return std::span(verdict.tensors).subspan(before); };
  // Nothing looks bad, or what does was noise, or may be: only all records tell then. An error can
  // die out within its block, beside a residual stream that is larger.
  const bool all = !suspect || !met->evidence.empty() || may_be_noise(*met, results(), context) ||
                   context.memory.noise.apart.chance > 0;
  context.how.recompute = all;
  if (all) ops.look_at_rest();
  conclude(*met, all, before, context, verdict);
  const auto first = locate::first_diverged(results());
  const auto bad = first ? ops.place_of(results()[*first]) : all ? std::nullopt : suspect;
  if (interrupted() != 0) {
    verdict.findings.push_back(verdict::interruption("the search was not finished"));
    context.told.cut_short = true;
  }
  add(ops, results(), search, verdict);
  if (!ops.name_bad(bad, search) && first) {
    name_unstored(results(), *first, search);
  }
  if (!first) diff::keep_parameters(*met, context.memory.noise);
  return first.has_value();
}

/// `context`: as none of the steps that are searched was compared.
Verdict search_steps(const SearchInput& input, diff::DiffContext context) {
  Verdict verdict = diff::head_of(input.reference, input.candidate);
  verdict.search.emplace();
  verdict.search->axis = "ops";
  verdict.search->bytes_total = input.reference.bytes_read() + input.candidate.bytes_read();
  context.how.by_hash = true;
  for (const StepPair& steps : input.pairs) {
    if (search_step(steps, context, verdict, *verdict.search) || context.told.cut_short) break;
  }
  diff::conclude_runs(context, verdict);
  return verdict;
}

}  // namespace

Verdict over_ops(const SearchInput& input) {
  if (!input.reference.trace || !input.candidate.trace) {
    throw Error("--over ops: expected two traces, got a checkpoint",
                {.file = input.reference.trace ? input.candidate.path : input.reference.path});
  }
  const diff::DiffContext context{input.reference, input.candidate, input.how};
  return diff::judge_after_steps(
      context, [&](diff::DiffContext after) { return search_steps(input, std::move(after)); });
}

}  // namespace ttcheck::bisect
