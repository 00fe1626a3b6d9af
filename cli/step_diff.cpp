#include "cli/step_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "cli/conclusion.hpp"
#include "cli/interrupt.hpp"
#include "cli/leftovers.hpp"
#include "cli/progress.hpp"
#include "cli/side.hpp"
#include "core/align/model_order.hpp"
#include "core/assemble/assemble.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/compare.hpp"
#include "core/limits/limits.hpp"
#include "core/locate/order.hpp"
#include "core/verdict/facts.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::cli {
namespace {

/// One side of one step, put together.
struct Opened {
  assemble::Assembly assembly;
  std::vector<Fact> facts;
};

/// Distinct names of the tensors; kept from step to step only where there are several.
std::int64_t count_names(const Run& run, std::span<const Tensor> tensors,
                         std::set<std::string>& names) {
  if (run.steps.size() > 1) {
    for (const Tensor& tensor : tensors) names.insert(tensor.identity.name);
    return std::ssize(names);
  }
  if (!run.trace) return std::ssize(tensors);  // a checkpoint's identities are names
  std::unordered_set<std::string_view> seen;
  for (const Tensor& tensor : tensors) seen.insert(tensor.identity.name);
  return std::ssize(seen);
}

Opened open_whole_step(const Run& run, std::size_t index, Verdict& verdict, RunSummary& summary,
                       std::set<std::string>& names) {
  State state = run.open(index);
  verdict.coverage.bytes_unclaimed += state.bytes_unclaimed;
  verdict.coverage.unreadable += state.unreadable;
  append(verdict.findings, std::move(state.findings));
  Opened opened;
  opened.facts = run.facts;
  opened.facts.insert(opened.facts.end(), state.facts.begin(), state.facts.end());
  opened.assembly = assemble::assemble(std::move(state), run.mesh, numbers_of(opened.facts));
  append(verdict.findings, std::move(opened.assembly.findings));
  verdict.coverage.unreadable += opened.assembly.unreadable;
  for (const Tensor& tensor : opened.assembly.tensors) summary.bytes += logical_bytes(tensor);
  summary.tensors = count_names(run, opened.assembly.tensors, names);
  return opened;
}

/// Nothing when the step cannot be read; one bad step of several does not end the comparison.
std::optional<Opened> open_step(const Run& run, std::size_t index, Verdict& verdict,
                                RunSummary& summary, std::set<std::string>& names) {
  try {
    return open_whole_step(run, index, verdict, summary, names);
  } catch (const Error& error) {
    if (run.steps.size() == 1) throw;
    report_unread_step(error, run.steps[index], verdict);
    return std::nullopt;
  }
}

/// What of one step could be opened has no counterpart.
void count_unmet(const std::optional<Opened>& side, Verdict& verdict) {
  if (side) verdict.coverage.unreadable += std::ssize(side->assembly.tensors);
}

/// A rank of one mesh is the same part of the run as that rank of the other.
bool same_ranks(const Mesh& a, const Mesh& b) {
  const std::int64_t world = a.world_size();
  if (world != b.world_size()) return false;
  const auto within = [](const Mesh& one, const Mesh& other) {
    return std::ranges::all_of(
        one.axes, [&](const Axis& axis) { return other.size_of(axis.name) == axis.size; });
  };
  return within(a, b) && within(b, a);
}

bool comparable(const Tensor& a, const Tensor& b) {
  return a.shape == b.shape && is_complex(a.dtype) == is_complex(b.dtype);
}

/// `pairs` by ascending `places`, which holds one place per pair.
template <class Place>
void sort_by(std::vector<align::PairIndex>& pairs, const std::vector<Place>& places) {
  std::vector<std::size_t> order(pairs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t n) { return places[n]; });
  std::vector<align::PairIndex> sorted;
  sorted.reserve(pairs.size());
  for (const std::size_t n : order) sorted.push_back(std::move(pairs[n]));
  pairs = std::move(sorted);
}

/// Pairs in the order in which a difference would have come about.
void sort_pairs(std::vector<align::PairIndex>& pairs, std::span<const Tensor> reference,
                std::span<const Tensor> candidate, const DiffContext& context) {
  if (!context.reference.trace || !context.candidate.trace) {
    std::vector<align::ModelPlace> places;
    places.reserve(pairs.size());
    for (const align::PairIndex& pair : pairs) {
      const Tensor& tensor = reference[pair.reference];
      places.push_back(align::model_place(tensor.identity, tensor.kind));
    }
    return sort_by(pairs, places);
  }
  const bool by_reference =
      context.reference.mesh.world_size() == 1 || context.candidate.mesh.world_size() != 1;
  const auto all = by_reference ? locate::causal_places(reference, context.reference.mesh)
                                : locate::causal_places(candidate, context.candidate.mesh);
  std::vector<locate::CausalPlace> places;
  places.reserve(pairs.size());
  for (const align::PairIndex& pair : pairs) {
    places.push_back(all[by_reference ? pair.reference : pair.candidate]);
  }
  sort_by(pairs, places);
}

/// Compares every pair once and says what the limits need to know.
limits::Context context_of(std::span<const compare::Pair> pairs,
                           std::span<const compare::Compared> compared, bool trace) {
  limits::Context context;
  context.trace = trace;
  std::size_t counted = 0;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    limits::observe(context, *pairs[i].reference);
    limits::observe(context, *pairs[i].candidate);
    if (compared[i].error || compared[i].metrics.reference_constant) continue;
    if (compared[i].stopped && compared[i].metrics.unequal_values == 0) continue;  // not known yet
    ++counted;
    const auto cast =
        verdict::equal_under(*pairs[i].reference, *pairs[i].candidate, compared[i].metrics);
    if (cast) ++equal;
  }
  context.copies = counted > 0 && equal * 2 >= counted;
  context.nothing_to_count = counted == 0;
  return context;
}

bool stop() { return interrupted() != 0; }

/// True when a part of a tensor shows that the whole is beyond its limit.
bool part_decides(const Metrics& part, const Limit& limit) {
  if (part.non_finite_disagree > 0) return true;
  if (limit.kind == LimitKind::tolerance) return part.max_quotient > 1;
  return limit.rel == 0 && part.unequal_values > 0;
}

/// Empty when a signal or an unreadable part cut a pass short and what was read does not decide.
std::optional<TensorResult> result_of(const compare::Pair& pair, const compare::Compared& compared,
                                      const limits::Context& context,
                                      const limits::LimitOptions& options) {
  const Limit limit = limits::limit_for(*pair.reference, *pair.candidate, context, options);
  std::optional<Detail> detail;
  std::vector<RankError> ranks;
  bool cut = compared.stopped || compared.error;
  if (cut && !part_decides(compared.metrics, limit)) return std::nullopt;
  if (!cut && verdict::needs_detail(*pair.reference, compared.metrics, limit)) {
    try {
      detail = compare::examine(pair, compared.metrics, stop);
      ranks = compare::by_rank(pair, stop);
    } catch (const compare::Stopped&) {
      cut = true;
    } catch (const Error&) {  // read well in the first pass: its metrics stand
      ranks.clear();
    }
  }
  TensorResult result = verdict::judge(*pair.reference, *pair.candidate, compared.metrics, limit,
                                       std::move(detail), std::move(ranks));
  if (cut && result.outcome != Outcome::diverged) return std::nullopt;
  return result;
}

/// As compare::by_rank; empty when a signal came meanwhile.
std::vector<RankError> errors_by_rank(const compare::Pair& pair) {
  try {
    return compare::by_rank(pair, stop);
  } catch (const compare::Stopped&) {
    return {};
  }
}

/// Replicas that differ: an error where they must agree bitwise; elsewhere only when a rank's own
/// error is beyond the limit, else a note. Strict ones make the result diverge on those ranks.
void judge_replicas(const compare::Pair& pair, const compare::Compared& compared,
                    const StepPair& steps, const DiffContext& context, TensorResult& result,
                    Verdict& verdict) {
  const bool strict = verdict::replicas_are_strict(result.identity.phase);
  const auto report = [&](const Tensor& tensor, const std::vector<std::int32_t>& ranks,
                          const Mesh& mesh, std::string_view side, bool wrong) {
    if (ranks.empty()) return;
    Finding finding = verdict::replica_finding(tensor, steps.step, ranks, mesh, side);
    if (!strict && !wrong) finding.severity = Severity::note;
    verdict.findings.push_back(std::move(finding));
  };
  if (!compared.reference_differs.empty()) {
    const compare::Pair itself{pair.reference, pair.reference, pair.rtol, pair.atol};
    const bool wrong = !verdict::wrong_ranks(errors_by_rank(itself), result.limit).empty();
    report(*pair.reference, compared.reference_differs, context.reference.mesh, "reference", wrong);
  }
  if (compared.candidate_differs.empty()) return;
  if (result.ranks.empty()) {
    result = verdict::judge(*pair.reference, *pair.candidate, compared.metrics, result.limit,
                            std::move(result.detail), errors_by_rank(pair));
  }
  const auto beyond = verdict::wrong_ranks(result.ranks, result.limit);
  report(*pair.candidate, compared.candidate_differs, context.candidate.mesh, "candidate",
         !beyond.empty());
  if (result.outcome == Outcome::diverged || (!strict && beyond.empty())) return;
  result = verdict::as_replica_divergence(std::move(result), compared.candidate_differs);
}

/// The pairs whose bytes are to be compared, and the name rule of each.
struct Work {
  std::vector<compare::Pair> pairs;
  std::vector<std::string> rules;
};

/// What has no bytes or another shape is judged here and now.
Work work_of(align::Alignment& alignment, std::span<const Tensor> reference,
             std::span<const Tensor> candidate, const StepPair& steps,
             const limits::LimitOptions& options, Verdict& verdict) {
  Work work;
  for (align::PairIndex& index : alignment.pairs) {
    const Tensor& left = reference[index.reference];
    const Tensor& right = candidate[index.candidate];
    if (!left.stored || !right.stored) {
      judge_unstored(left, right, steps.step, verdict);
      continue;
    }
    if (!comparable(left, right)) {
      ++verdict.coverage.paired;
      verdict.findings.push_back(verdict::shape_finding(left, right, steps.step));
      continue;
    }
    compare::Pair pair{&left, &right, {}, {}};
    if (const auto tolerance = limits::tolerance_for(options, left.identity.name)) {
      pair.rtol = tolerance->rtol;
      pair.atol = tolerance->atol;
    }
    work.pairs.push_back(pair);
    work.rules.push_back(std::move(index.rule));
  }
  return work;
}

std::vector<compare::Compared> compare_all(const Work& work, const Options& options) {
  Progress progress(options);
  compare::CompareOptions how;
  how.exact_sums = options.exact_sums;
  how.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  how.stop = stop;
  return compare::compare(work.pairs, how);
}

/// Results of pairs [begin, end), empty where too little could be read or a signal came first.
/// Pairs that need a second pass are read again: small ones side by side, large ones one by one,
/// since each uses all threads.
std::vector<std::optional<TensorResult>> results_of(const Work& work,
                                                    std::span<const compare::Compared> compared,
                                                    std::size_t begin, std::size_t end,
                                                    const limits::Context& limit_context,
                                                    const Options& options) {
  constexpr std::int64_t kLarge = 1 << 20;  // elements
  std::vector<std::optional<TensorResult>> results(end - begin);
  const auto judge = [&](std::size_t i, bool large) {
    if ((compared[i].metrics.count >= kLarge) != large) return;
    results[i - begin] = result_of(work.pairs[i], compared[i], limit_context, options.limits);
  };
  parallel_for(results.size(), [&](std::size_t n) { judge(begin + n, false); });
  for (std::size_t i = begin; i < end; ++i) judge(i, true);
  return results;
}

/// One result per pair that could be read in time, made block by block, so that what is only
/// counted is never held for all pairs at once.
void judge_all(Work& work, bool trace, const StepPair& steps, DiffContext& context,
               Verdict& verdict) {
  constexpr std::size_t kBlock = 4096;  // pairs
  const std::vector<compare::Compared> compared = compare_all(work, context.options);
  const limits::Context limit_context = context_of(work.pairs, compared, trace);
  const bool keep_equal =
      trace || context.options.all;  // traces: inputs that are equal clear an op
  std::int64_t left = 0;
  for (std::size_t begin = 0; begin < work.pairs.size(); begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, work.pairs.size());
    auto results = results_of(work, compared, begin, end, limit_context, context.options);
    for (std::size_t i = begin; i < end; ++i) {
      const compare::Pair& pair = work.pairs[i];
      if (compared[i].error) {
        report_unread(*pair.reference, *compared[i].error, steps.step, verdict);
      } else {
        ++(results[i - begin] ? verdict.coverage.paired : left);
      }
      if (!results[i - begin]) continue;
      TensorResult& result = *results[i - begin];
      if (!compared[i].error) {  // else: what could be read shows a divergence
        judge_replicas(pair, compared[i], steps, context, result, verdict);
        verdict.coverage.bytes_compared += logical_bytes(*pair.reference);
      }
      result.step = steps.step;
      result.rule = std::move(work.rules[i]);
      verdict::add_result(std::move(result), keep_equal, verdict);
    }
  }
  if (left == 0) return;
  context.cut_short = true;
  verdict.coverage.unreadable += left;
  verdict.findings.push_back(interruption(
      fmt::format("{} of {} tensors were not compared whole", left, work.pairs.size())));
  verdict.findings.back().step = steps.step;
}

/// Results in the order of their pairs: those by hash were judged before the others.
void sort_results(std::span<TensorResult> results, const align::Alignment& alignment,
                  std::span<const Tensor> reference) {
  std::unordered_map<Identity, std::size_t, IdentityHash> places;
  for (const align::PairIndex& pair : alignment.pairs) {
    places.try_emplace(reference[pair.reference].identity, places.size());
  }
  std::ranges::stable_sort(results, {},
                           [&](const TensorResult& result) { return places.at(result.identity); });
}

}  // namespace

void diff_step(const StepPair& steps, DiffContext& context, Verdict& verdict) {
  const auto a = open_step(context.reference, steps.reference, verdict, *verdict.reference,
                           context.reference_names);
  const auto b = open_step(context.candidate, steps.candidate, verdict, *verdict.candidate,
                           context.candidate_names);
  if (!a || !b) {
    count_unmet(a, verdict);
    count_unmet(b, verdict);
    return;
  }
  const std::vector<Tensor>& reference = a->assembly.tensors;
  const std::vector<Tensor>& candidate = b->assembly.tensors;
  std::vector<FactResult> facts = verdict::compare_facts(
      a->facts, b->facts, same_ranks(context.reference.mesh, context.candidate.mesh));
  append(verdict.findings, verdict::fact_findings(facts, steps.step));
  if (context.first_step) verdict.facts = std::move(facts);

  const bool trace = context.reference.trace && context.candidate.trace;
  align::Alignment alignment = align::align(reference, candidate, context.align);
  report_leftovers({reference, candidate, alignment, steps.step, trace, a->assembly.not_compared,
                    b->assembly.not_compared},
                   verdict);
  sort_pairs(alignment.pairs, reference, candidate, context);
  const std::size_t before = verdict.tensors.size();
  Work work = work_of(alignment, reference, candidate, steps, context.options.limits, verdict);
  const bool hashes = verdict.tensors.size() > before;
  judge_all(work, trace, steps, context, verdict);
  const auto results = std::span(verdict.tensors).subspan(before);
  if (hashes) sort_results(results, alignment, reference);
  conclude_step(results, trace, context, verdict);
}

}  // namespace ttcheck::cli
