// SPDX-License-Identifier: Apache-2.0
#include "core/diff/explain_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/base/parallel.hpp"
#include "core/base/parent_of.hpp"
#include "core/diff/trained_apart.hpp"
#include "core/explain/explain.hpp"
#include "core/explain/rank_part.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

constexpr std::int64_t kMostRead = 24;                         ///< results of one step
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  ///< of all of them
constexpr std::size_t kMostKnown = 128;                        ///< tensors held against one

/// `forward layers.0.mlp/output.0`, or the name alone within one phase.
std::string words_of(const Identity& identity, Phase own) {
  if (identity.phase == own || identity.phase == Phase::none) return identity.name;
  return fmt::format("{} {}", name(identity.phase), identity.name);
}

class Surroundings {
 public:
  Surroundings(const MetStep& met, const DiffContext& context) : met_(met), context_(context) {
    for (const OpenedStep& side : *met.sides) numbers_.merge(numbers_of(side.facts));
    for (const auto at : {std::size_t{1}, std::size_t{0}}) {
      for (const Tensor& tensor : met.sides->at(at).assembly.tensors) {
        if (!tensor.stored || is_exact(tensor.dtype) || is_complex(tensor.dtype)) continue;
        by_shape_[tensor.shape].push_back({&tensor, "", false, at == 1});
      }
    }
    for (const Tensor& tensor : met.sides->at(1).assembly.tensors) {
      if (tensor.stored) by_module_[module_of(tensor.identity)].push_back(&tensor);
    }
  }

  /// Nothing where no bytes were compared.
  std::optional<explain::Subject> subject_of(const TensorResult& result) const {
    const compare::Pair* const pair = met_.compared(result);
    if (pair == nullptr || result.metrics.count == 0) return std::nullopt;
    explain::Subject subject;
    subject.pair = *pair;
    subject.result = &result;
    subject.mesh = &context_.candidate.mesh;
    subject.numbers = &numbers_;
    subject.noise = explain::noise_of(result);
    return subject;
  }

  void add_known(explain::Subject& subject) const {
    if (!context_.how.look_at_others) return;
    const Identity& own = subject.result->identity;
    if (const auto module = by_module_.find(module_of(own)); module != by_module_.end()) {
      for (const Tensor* const tensor : module->second) {
        if (tensor->identity.phase != own.phase || tensor == subject.pair.candidate) continue;
        subject.beside.push_back(tensor);
      }
    }
    for (const explain::Known* const one : likeliest(subject)) {
      explain::Known& known = subject.known.emplace_back(*one);
      known.words = words_of(one->tensor->identity, own.phase);
      known.earlier = is_earlier(one->tensor->identity, own);
    }
  }

 private:
  static bool is_earlier(const Identity& other, const Identity& own) {
    return other.name == own.name && other.phase < own.phase;
  }

  /// The known tensors of its shape, the nearest by name first.
  std::vector<const explain::Known*> likeliest(const explain::Subject& subject) const {
    const auto found = by_shape_.find(subject.pair.reference->shape);
    if (found == by_shape_.end()) return {};
    const Identity& own = subject.result->identity;
    const std::string_view module = module_of(own), around = parent_of(parent_of(own.name));
    const TraceRecord* const record = subject.pair.candidate->trace.get();
    const auto distance = [&](const Identity& other) -> std::size_t {
      if (is_earlier(other, own)) return 0;
      if (record != nullptr &&
          std::ranges::find(record->inputs, other.name) != record->inputs.end()) {
        return 1;
      }
      if (other.name.starts_with(module) && module_of(other) == module) return 2;
      const bool near = other.name.starts_with(around);  // which is told sooner
      return near && parent_of(parent_of(other.name)) == around ? 3 : 4;
    };
    std::array<std::vector<const explain::Known*>, 5> at_distance;
    for (const explain::Known& one : found->second) {
      const Identity& other = one.tensor->identity;
      const bool same =
          one.tensor == subject.pair.reference || one.tensor == subject.pair.candidate;
      if (same || !may_be_part(other, own, one.same_side)) continue;
      auto& those = at_distance.at(distance(other));
      if (those.size() < kMostKnown) those.push_back(&one);
    }
    std::vector<const explain::Known*> nearest;
    for (const auto& those : at_distance) nearest.insert(nearest.end(), those.begin(), those.end());
    if (nearest.size() > kMostKnown) nearest.resize(kMostKnown);
    return nearest;
  }

  /// Whether `other` may explain `own`: of a trace, what came before on the candidate's own side;
  /// of what was loaded, in a trace as in a checkpoint, what the reference has under other names.
  bool may_be_part(const Identity& other, const Identity& own, bool candidate_side) const {
    const bool loaded = own.phase == Phase::state && other.phase == Phase::state;
    if (!candidate_side) return (!met_.trace || loaded) && other.name != own.name;
    if (!met_.trace || other.microbatch != own.microbatch) return false;
    return other.phase <= own.phase;
  }

  const MetStep& met_;
  const DiffContext& context_;
  std::map<Shape, std::vector<explain::Known>> by_shape_;
  NameViewMap<std::vector<const Tensor*>> by_module_;  ///< the candidate's
  Numbers numbers_;
};

void add(Finding& finding, std::vector<explain::Explanation> found, bool may_rename) {
  if (found.empty()) return;
  const explain::Explanation& best = found.front();
  // What is right but for its bits is no NaN that came up.
  const bool bits = best.code == Code::bit_flip || best.code == Code::byte_order;
  const bool renamed = finding.code == Code::diverged || (finding.code == Code::non_finite && bits);
  if (may_rename && renamed) finding.code = best.code;
  finding.message += "; " + best.words;
  for (explain::Explanation& one : found) finding.hypotheses.push_back(std::move(one.hypothesis));
}

/// Explains, where some ranks' shards alone are wrong, that each of these is what it was before the
/// update.
std::optional<explain::Explanation> stale_shards(explain::Subject subject) {
  constexpr std::size_t kMostRanks = 16;
  const std::vector<std::int32_t>& wrong = subject.result->wrong_ranks;
  const Tensor& whole = *subject.pair.candidate;
  if (wrong.empty() || wrong.size() > kMostRanks || wrong == ranks_of(whole)) return std::nullopt;
  std::erase_if(subject.known, [](const explain::Known& one) { return !one.earlier; });
  if (subject.known.empty()) return std::nullopt;
  std::optional<explain::Explanation> stale;
  for (const std::int32_t rank : wrong) {
    const auto part = explain::part_of_rank(whole, rank);
    if (!part) return std::nullopt;
    subject.pair.candidate = &*part;
    const auto found = explain::explanations(subject, explain::Effort::all);
    const auto one = std::ranges::find(found, Code::stale_replica, &explain::Explanation::code);
    if (one == found.end()) return std::nullopt;
    if (!stale || one->hypothesis.residual > stale->hypothesis.residual) stale = *one;
  }
  stale->words = "on these ranks " + stale->words;
  return stale;
}

/// How much is read: of what training moved along with the rest, places are no cause, and a sample
/// tells of all others.
explain::Effort effort_for(const TensorResult& result, bool read) {
  if (!read) return explain::Effort::sums;
  return moved_along(result) ? explain::Effort::sample : explain::Effort::all;
}

bool says_why_one_rank(Code code) {
  return code == Code::stale_replica || code == Code::bit_flip || code == Code::partial_sum;
}

}  // namespace

void explain_findings(const MetStep& met, std::span<const TensorResult* const> results,
                      std::span<const char> first, std::span<Finding> findings,
                      const DiffContext& context) {
  if (results.empty() || interrupted() != 0) return;
  const Surroundings surroundings(met, context);
  std::vector<char> read(results.size());
  std::int64_t reads = 0, elements = 0;
  for (const bool wanted : {true, false}) {
    for (std::size_t n = 0; n < results.size(); ++n) {
      const std::int64_t count = results[n]->metrics.count;
      if ((first[n] != 0) != wanted || reads >= kMostRead) continue;
      if (reads > 0 && elements + count > kMostElements) continue;
      read[n] = 1;
      ++reads;
      elements += count;
    }
  }
  parallel_for(results.size(), [&](std::size_t n) {
    if (verdict::wrong_by_itself(*results[n])) return;  // what differs is noise for the most part
    auto subject = surroundings.subject_of(*results[n]);
    if (!subject) return;
    if (read[n] != 0) surroundings.add_known(*subject);
    auto found = explain::explanations(*subject, effort_for(*results[n], read[n] != 0));
    if (read[n] != 0 && (found.empty() || found.front().code == Code::localised)) {
      if (auto stale = stale_shards(*subject)) found.insert(found.begin(), std::move(*stale));
    }
    add(findings[n], std::move(found), true);
  });
}

void explain_replicas(const MetStep& met, std::span<const TensorResult> results,
                      const DiffContext& context, Verdict& verdict) {
  std::optional<Surroundings> surroundings;
  std::int64_t reads = 0;
  for (const TensorResult& result : results) {
    if (result.test != Test::replica || result.wrong_ranks.empty() || reads >= kMostRead) continue;
    const auto found = std::ranges::find_if(verdict.findings, [&](const Finding& finding) {
      return finding.code == Code::replica_mismatch && finding.step == result.step &&
             finding.phase == result.identity.phase && finding.tensor == result.identity.name &&
             finding.ranks == result.wrong_ranks;
    });
    if (found == verdict.findings.end()) continue;
    if (!surroundings) surroundings.emplace(met, context);
    auto subject = surroundings->subject_of(result);
    if (!subject) continue;
    const auto part = explain::part_of_rank(*subject->pair.candidate, result.wrong_ranks.front());
    if (!part) continue;
    ++reads;
    surroundings->add_known(*subject);
    subject->pair.candidate = &*part;
    auto explanations = explain::explanations(*subject, explain::Effort::all);
    std::erase_if(explanations,
                  [](const explain::Explanation& one) { return one.code == Code::localised; });
    if (explanations.empty()) continue;
    if (says_why_one_rank(explanations.front().code)) found->code = explanations.front().code;
    add(*found, std::move(explanations), false);
  }
}

}  // namespace ttcheck::diff
