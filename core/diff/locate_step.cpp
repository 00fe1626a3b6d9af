// SPDX-License-Identifier: Apache-2.0
#include "core/diff/locate_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/parallel.hpp"
#include "core/diff/explain_step.hpp"
#include "core/diff/judge_collectives.hpp"
#include "core/diff/locate_recomputed.hpp"
#include "core/diff/named_as_reference.hpp"
#include "core/diff/one_part.hpp"
#include "core/diff/ops_of_one_side.hpp"
#include "core/diff/scaled_alike.hpp"
#include "core/diff/trained_apart.hpp"
#include "core/locate/first.hpp"
#include "core/locate/origins.hpp"
#include "core/locate/stale.hpp"
#include "core/model/name_rules.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

/// Whether the error came about here, in words; empty where it cannot be told.
std::string origin_words(const locate::Origin& origin, std::size_t own, std::int64_t inherited,
                         std::span<const TensorResult> results,
                         const recompute::Recomputed& recomputed, const Mesh& mesh) {
  const std::string again = recomputed_words(recomputed, results[own].shape, mesh);
  if (!origin.introduced) return "";
  if (!*origin.introduced) {
    if (origin.root == own) return again;
    const Identity& root = results[origin.root].identity;
    return fmt::format("; inherited from {} {}{}", name(root.phase), root.name, again);
  }
  const std::string here =
      again.empty() ? "; introduced here: what went in is within its limit" : again;
  if (inherited == 0) return here;
  return here +
         fmt::format("; {} record{} it", inherited, inherited == 1 ? " inherits" : "s inherit");
}

/// The records that only pass a result's error on, for each result, by their pairs.
std::vector<std::vector<std::size_t>> heirs_of(std::span<const TensorResult> results,
                                               std::span<const locate::Origin> origins) {
  std::vector<std::vector<std::size_t>> heirs(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    const locate::Origin& origin = origins[i];
    if (results[i].outcome() != Outcome::diverged || origin.root == i) continue;
    if (!origin.introduced.value_or(true)) heirs[origin.root].push_back(results[i].pair);
  }
  return heirs;
}

/// A note for each root: the first record behind it that is within its limit and carries its error
/// all the same, and how many there are.
std::vector<Finding> carried_on(std::span<const TensorResult> results,
                                std::span<const locate::Origin> origins,
                                const DiffContext& context) {
  std::map<std::size_t, std::pair<std::size_t, std::int64_t>> carriers;  // by root: first, count
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].outcome() != Outcome::noise || !origins[i].introduced) continue;
    ++carriers.try_emplace(origins[i].root, i, 0).first->second.second;
  }
  std::vector<Finding> notes;
  for (const auto& [root, carrier] : carriers) {
    const auto& [first, count] = carrier;
    const TensorResult& result = results[first];
    Finding& finding =
        notes.emplace_back(verdict::divergence_finding(result, context.candidate.mesh));
    finding.severity = Severity::note;
    finding.message = fmt::format(
        "relative error {:.3g} is within the limit {:.3g}, but {:.3g} x what correct runs showed; "
        "inherited from {} {}",
        result.metrics.rel(), result.limit.rel, result.metrics.rel() / result.limit.measured,
        name(results[root].identity.phase), results[root].identity.name);
    if (count > 1) finding.message += fmt::format(", as in {} more records", count - 1);
  }
  return notes;
}

/// What is known of each result's error, beside the result.
struct Causes {
  std::vector<recompute::Recomputed> recomputed;
  std::vector<locate::Origin> origins;
  std::vector<std::vector<std::size_t>> heirs;  ///< records that only pass its error on
  std::vector<Finding> collectives;             ///< wrong ones behind none of the results
};

Causes causes_of(const MetStep& met, std::span<const TensorResult> results,
                 std::vector<recompute::Recomputed> recomputed, DiffContext& context) {
  Causes causes{std::move(recomputed), std::vector<locate::Origin>(results.size()), {}, {}};
  if (met.trace) {
    if (context.how.recompute && met.graphs) {
      causes.collectives = judge_collectives(met, results, context, causes.recomputed);
      recompute_step(met, results, causes.recomputed);
      const ReferenceNames names(met);
      for (recompute::Recomputed& one : causes.recomputed) names.give(one);
    }
    causes.origins = locate::origins_of(results, causes.recomputed);
  }
  causes.heirs = heirs_of(results, causes.origins);
  return causes;
}

std::string_view name_there(const TensorResult& result) {
  return result.candidate_name.empty() ? result.identity.name : result.candidate_name;
}

/// A tied parameter that is wrong where what it is tied to is right: one side has both, and each is
/// compared with the one that the other side has.
bool is_loose_tie(std::span<const TensorResult> results, std::size_t at) {
  const TensorResult& own = results[at];
  if (own.rule != kTiedParameter) return false;
  return std::ranges::none_of(results, [&](const TensorResult& one) {
    return one.outcome() == Outcome::diverged && one.rule != own.rule &&
           (name_there(one) == name_there(own) || one.identity.name == own.identity.name);
  });
}

/// The module whose call ran an op that has a name of its own.
std::string within_words(const TensorResult& result) {
  const std::string& module = result.trace->counted.within;
  return module.empty() || module == module_of(result.identity)
             ? ""
             : fmt::format("; within {}", module);
}

/// The finding of each of `diverged`, with what explains it and where its error came from. `head`
/// is what the report begins with.
std::vector<Finding> findings_of(const MetStep& met, std::span<const TensorResult> results,
                                 std::span<const std::size_t> diverged, const Causes& causes,
                                 std::size_t head, const DiffContext& context) {
  std::vector<Finding> findings(diverged.size());
  parallel_ranges(findings.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      findings[n] = verdict::divergence_finding(results[diverged[n]], context.candidate.mesh);
      findings[n].next = context.next_of(results[diverged[n]]);
    }
  });
  for (std::size_t n = 0; n < diverged.size(); ++n) {
    if (!is_loose_tie(results, diverged[n])) continue;
    findings[n].code = Code::tie_mismatch;
    findings[n].message += "; it is tied to a tensor that is right, and stored beside it";
  }
  std::vector<const TensorResult*> wrong;
  std::vector<char> roots;
  for (const std::size_t i : diverged) {
    wrong.push_back(&results[i]);
    roots.push_back(i == head || causes.origins[i].introduced.value_or(false) ? 1 : 0);
  }
  explain_findings(met, wrong, roots, findings, context);
  for (std::size_t n = 0; n < diverged.size(); ++n) {
    const std::size_t i = diverged[n];
    blame_op(causes.recomputed[i], context.candidate.mesh, findings[n]);
    findings[n].message += origin_words(causes.origins[i], i, std::ssize(causes.heirs[i]), results,
                                        causes.recomputed[i], context.candidate.mesh);
  }
  return findings;
}

/// What else may be of use to who looks at the first difference.
void add_asides(const MetStep& met, const TensorResult& first,
                const recompute::Recomputed& recomputed, Finding& finding) {
  finding.aside = finding.message.size();
  finding.message += unknown_words(recomputed);
  if (met.trace) finding.message += within_words(first) + lone_ops_words(met, first);
}

/// Says how many tensors that moved alike were not looked at, as only the first of a few families
/// are: where that explained these and nothing is said of all.
void say_unasked(std::size_t moved, std::span<const std::size_t> diverged,
                 std::span<const TensorResult> results, std::span<Finding> findings) {
  if (std::ranges::find(findings, Code::trained_apart, &Finding::code) != findings.end()) return;
  Finding* last = nullptr;
  for (std::size_t n = 0; n < diverged.size(); ++n) {
    const TensorResult& one = results[diverged[n]];
    if (one.test != Test::moved || one.odd) continue;
    --moved;
    last = &findings[n];
  }
  if (last == nullptr || moved == 0) return;
  last->message += fmt::format("; of {} more that moved no cause was looked for", moved);
}

/// TT106 where the candidate still has an earlier step's values; of records in which an error came
/// about, the first few of them.
void name_stale(const Verdict& verdict, std::span<const TensorResult> results,
                std::span<const std::size_t> diverged, const Causes& causes,
                std::span<Finding> findings) {
  constexpr std::size_t kMostRoots = 16;
  const std::span<const TensorResult> all(verdict.tensors);
  const auto earlier = all.first(all.size() - results.size());
  std::size_t roots = 0;
  for (std::size_t n = 0; n < diverged.size() && !earlier.empty() && roots < kMostRoots; ++n) {
    if (!causes.origins[diverged[n]].introduced.value_or(true)) continue;
    ++roots;
    const auto step = locate::stale_since(results[diverged[n]], earlier);
    if (!step) continue;
    findings[n].code = Code::stale_replica;
    findings[n].message += fmt::format("; the candidate still holds its values of step {}", *step);
  }
}

}  // namespace

void locate_step(const MetStep& met, std::span<const TensorResult> results,
                 std::vector<recompute::Recomputed> recomputed, DiffContext& context,
                 Verdict& verdict) {
  const auto first = locate::first_diverged(results);
  if (!first) return;
  Causes causes = causes_of(met, results, std::move(recomputed), context);
  if (!verdict.first) {
    verdict.first = locate::divergence_of(results[*first], causes.origins[*first].introduced,
                                          context.candidate.mesh);
    if (met.trace) verdict.first->before = locate::right_in(results.first(*first));
  }
  std::vector<std::size_t> diverged;
  for (std::size_t i = *first; i < results.size(); ++i) {
    if (results[i].outcome() != Outcome::diverged || results[i].test == Test::replica) continue;
    diverged.push_back(i);
    if (!causes.origins[i].introduced.value_or(false)) continue;
    verdict.roots.push_back(
        {results[i].step, results[i].identity, std::ssize(causes.heirs[i]), causes.heirs[i]});
  }
  const std::vector<std::size_t> moved = set_apart(results, diverged);
  std::vector<Finding> findings = findings_of(met, results, diverged, causes, *first, context);
  name_odd(results, diverged, findings);
  if (!moved.empty()) tell_apart(met, results, moved, diverged, findings, context, verdict);
  const bool folded = fold_scaled(met, results, diverged, findings, context) > 0;
  if (!folded) say_unasked(moved.size(), diverged, results, findings);
  fold_part(met, results, verdict.findings, diverged, findings);
  if (met.trace) name_stale(verdict, results, diverged, causes, findings);
  if (!diverged.empty() && diverged.front() == *first) {
    add_asides(met, results[*first], causes.recomputed[*first], findings.front());
  }
  explain_replicas(met, results.subspan(*first), context, verdict);
  blame_collectives(results, causes.recomputed, context, verdict);
  append(verdict.findings, std::move(findings));
  append(verdict.findings, std::move(causes.collectives));
  append(verdict.findings, carried_on(results, causes.origins, context));
}

}  // namespace ttcheck::diff
