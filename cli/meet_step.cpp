#include "cli/meet_step.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "cli/by_manifest.hpp"
#include "cli/cut_axis.hpp"
#include "cli/leftovers.hpp"
#include "cli/side.hpp"
#include "cli/uncompared.hpp"
#include "cli/undeclared.hpp"
#include "cli/unstored.hpp"
#include "cli/untrimmed.hpp"
#include "core/align/model_order.hpp"
#include "core/assemble/lost_ranks.hpp"
#include "core/assemble/undeclared.hpp"
#include "core/base/name_map.hpp"
#include "core/base/parallel.hpp"
#include "core/compare/compare.hpp"
#include "core/limits/limits.hpp"
#include "core/locate/order.hpp"
#include "core/verdict/facts.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

/// Distinct names of the tensors; kept from step to step only where there are several.
std::int64_t count_names(const Run& run, std::span<const Tensor> tensors,
                         std::set<std::string>& names) {
  if (run.steps.size() > 1) {
    for (const Tensor& tensor : tensors) names.insert(tensor.identity.name);
    return std::ssize(names);
  }
  if (!run.trace) return std::ssize(tensors);  // a checkpoint's identities are names
  NameViewSet seen;
  for (const Tensor& tensor : tensors) seen.insert(tensor.identity.name);
  return std::ssize(seen);
}

Opened read_step(const Run& run, std::size_t index) {
  Opened opened;
  try {
    opened.state = run.open(index);
    opened.facts = run.facts;
    opened.facts.insert(opened.facts.end(), opened.state.facts.begin(), opened.state.facts.end());
    opened.findings = std::move(opened.state.findings);
    opened.bytes_unclaimed = opened.state.bytes_unclaimed;
    opened.unreadable = opened.state.unreadable;
    opened.named = std::move(opened.state.named);
  } catch (const Error& error) {
    opened.error = error;
  }
  return opened;
}

/// Places what files do not say how to place: by rank where both sides have the same of them, else
/// by the other side's shapes.
void place_undeclared(std::array<Opened, 2>& sides, const DiffContext& context) {
  auto& [a, b] = sides;
  const auto step = a.state.step;
  const assemble::Lost lost = assemble::meet_lost_ranks(a.state, b.state);
  if (lost.met > 0) a.findings.push_back(lost_note(lost.met, step));
  if (lost.left_out > 0) a.findings.push_back(untold_note(lost.left_out, step));
  if (const auto placed = assemble::place_by_rank(a.state.records, b.state.records); placed > 0) {
    a.findings.push_back(by_rank_note(placed, step));
  }
  const auto by_shape = [&](Opened& side, const Opened& other, const Mesh& mesh) {
    const auto placed = assemble::place_by_shape(side.state.records, other.state.records, mesh);
    if (placed > 0) side.findings.push_back(placed_note(placed, step));
  };
  by_shape(a, b, context.reference.mesh);
  by_shape(b, a, context.candidate.mesh);
  for (Opened* side : {&a, &b}) {
    const auto left_out = assemble::leave_out_unlike(side->state.records);
    if (left_out > 0) side->findings.push_back(unlike_note(left_out, step));
  }
}

/// Places what the other side's shape alone does not: by values.
void cut_undeclared(std::span<const align::PairIndex> pairs, std::array<Opened, 2>& sides,
                    const DiffContext& context, Verdict& verdict) {
  auto& [a, b] = sides;
  const auto cut = [&](bool reference, const Mesh& mesh, RunSummary& summary) {
    Opened& side = reference ? a : b;
    const Opened& other = reference ? b : a;
    const CutTotal made =
        cut_by_values(side.assembly.tensors, other.assembly.tensors, pairs, reference, mesh);
    summary.bytes += made.bytes;
    if (made.tensors > 0) verdict.findings.push_back(cut_note(made.tensors, a.state.step));
  };
  cut(true, context.reference.mesh, *verdict.reference);
  cut(false, context.candidate.mesh, *verdict.candidate);
}

void put_together(const Run& run, Opened& opened) {
  if (opened.error) return;
  try {
    State state = std::move(opened.state);  // freed here, side by side, too
    opened.assembly = assemble::assemble(std::move(state), run.mesh, numbers_of(opened.facts));
    append(opened.findings, std::move(opened.assembly.findings));
    opened.unreadable += opened.assembly.unreadable;
    for (const Tensor& tensor : opened.assembly.tensors) opened.bytes += logical_bytes(tensor);
  } catch (const Error& error) {
    opened.error = error;
  }
}

/// Says what is known of the side; false when it cannot be compared. One bad step of several does
/// not end the comparison.
bool add_side(const Run& run, std::size_t index, Opened& opened, Verdict& verdict,
              RunSummary& summary, std::set<std::string>& names) {
  if (opened.error && run.steps.size() == 1) throw Error(*opened.error);
  verdict.coverage.bytes_unclaimed += opened.bytes_unclaimed;
  verdict.coverage.unreadable += opened.unreadable;
  append(verdict.findings, std::move(opened.findings));
  if (opened.error) {
    report_unread_step(*opened.error, run.steps[index], verdict);
    return false;
  }
  summary.bytes += opened.bytes;
  summary.tensors = count_names(run, opened.assembly.tensors, names);
  return true;
}

/// Names that a side stores under others: its facts `tied.<name>`.
align::StatedTies ties_of(const std::vector<Fact>& facts) {
  constexpr std::string_view kTied = "tied.";
  align::StatedTies ties;
  for (const Fact& fact : facts) {
    const auto* name = std::get_if<std::string>(&fact.value);
    if (name != nullptr && fact.name.starts_with(kTied)) {
      ties.names.emplace(fact.name.substr(kTied.size()), *name);
    }
  }
  const Fact* const embeddings = find_fact(facts, "model.tied_embeddings");
  const bool* const tied = embeddings == nullptr ? nullptr : std::get_if<bool>(&embeddings->value);
  ties.embeddings = tied != nullptr && *tied;
  return ties;
}

/// What of one step could be opened has no counterpart.
void count_unmet(const Opened& side, Verdict& verdict) {
  verdict.coverage.unreadable += std::ssize(side.assembly.tensors);
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
  if (std::ranges::is_sorted(places)) return;
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
    std::vector<align::ModelPlace> places(pairs.size());
    parallel_ranges(pairs.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t n = begin; n < end; ++n) {
        const Tensor& tensor = reference[pairs[n].reference];
        places[n] = align::model_place(tensor.identity, tensor.kind);
      }
    });
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

/// Adds to the rule of a pair how the values of a side were got.
void name_views(const align::Dequantised& made, std::span<const Tensor> reference,
                std::span<const Tensor> candidate, std::vector<align::PairIndex>& pairs) {
  if (made.rules.empty()) return;
  for (align::PairIndex& pair : pairs) {
    for (const Tensor* side : {&reference[pair.reference], &candidate[pair.candidate]}) {
      const auto rule = made.rules.find(side->identity.name);
      if (!side->rounding || rule == made.rules.end()) continue;
      pair.rule = pair.rule == "same" ? rule->second : pair.rule + ", " + rule->second;
    }
  }
}

/// Names that met by a rule, of the first step alone: the others have the same.
void list_renames(const align::Alignment& alignment, std::span<const Tensor> reference,
                  std::span<const Tensor> candidate, Verdict& verdict) {
  for (const align::PairIndex& pair : alignment.pairs) {
    const std::string& left = reference[pair.reference].identity.name;
    const std::string& right = candidate[pair.candidate].identity.name;
    const bool rounded = reference[pair.reference].rounding || candidate[pair.candidate].rounding;
    if (left != right || rounded) verdict.renames.push_back({left, right, pair.rule});
  }
}

/// True where two shapes cannot be compared; it is said why.
bool unfit(const Tensor& left, const Tensor& right, std::optional<std::int64_t> step,
           Uncompared& uncompared, Verdict& verdict) {
  if (left.shape != right.shape && (left.undeclared || right.undeclared)) {
    uncompared.add(left,
                   "nothing says how ranks hold it, and the other side's shape fits several ways "
                   "or none");
    return true;
  }
  if (!comparable(left, right)) {
    ++verdict.coverage.paired;
    verdict.findings.push_back(verdict::shape_finding(left, right, step));
    return true;
  }
  return false;
}

void add_pair(const align::PairIndex& index, const Tensor& left, const Tensor& right,
              const DiffContext& shared, Work& work) {
  compare::Pair pair{&left, &right};
  if (const auto limit = limits::elementwise_limit(left, right, shared.limits())) {
    pair.tolerance = &*work.tolerances.insert({limit->rtol, limit->atol}).first;
  }
  if (index.rescaling != nullptr) {
    // Whoever made one side from the other rounded the result, so that either way back may be
    // inexact.
    compare::Pair& other = work.alternatives.emplace_back(work.pairs.size(), pair).other;
    other.reference_map = &index.rescaling->forward;
    pair.candidate_map = &index.rescaling->back;
  }
  add_ways(pair, shared.reference.mesh, shared.candidate.mesh, work);
  work.pairs.push_back(pair);
  work.rules.push_back(&index.rule);
}

/// What has no bytes or another shape is judged here and now.
Work work_of(const align::Alignment& alignment, const assemble::Assembly& reference,
             const assemble::Assembly& candidate, const StepPair& steps, const DiffContext& shared,
             Verdict& verdict) {
  const limits::LimitOptions& options = shared.limits();
  Work work;
  Uncompared uncompared;
  std::optional<limits::LimitContext> context;
  const align::PairIndex* guess = nullptr;  // the first pair of shapes that may be the same
  std::int64_t guesses = 0;
  const Tensor* first_alike = nullptr;  // with NaN or Inf on both sides
  std::int64_t alike = 0;
  work.pairs.reserve(alignment.pairs.size());
  work.rules.reserve(alignment.pairs.size());
  for (const align::PairIndex& index : alignment.pairs) {
    const Tensor& left = reference.tensors[index.reference];
    const Tensor& right = candidate.tensors[index.candidate];
    const bool stored = index.rescaling == nullptr && !left.rounding && !right.rounding;
    if (stored && judge_by_manifest(left, right, index.rule, steps, shared, work, verdict)) {
      continue;
    }
    if (!left.stored || !right.stored || (shared.by_hash && same_hash(left, right))) {
      if (index.rescaling != nullptr) {
        uncompared.add(left, "bytes were not stored, and a map changes the values");
        continue;
      }
      if (!context) {
        context = context_of_records(reference.tensors, candidate.tensors);
        context->apart = shared.apart;
      }
      const Limit limit = limits::limit_for(left, right, *context, options);
      try {
        if (judge_unstored(left, right, limit, steps.step, uncompared, verdict) && alike++ == 0) {
          first_alike = &left;
        }
      } catch (const Error& error) {
        report_unread(left, error, steps.step, verdict);
      }
      continue;
    }
    if (left.shape != right.shape &&
        may_be_of_one_shape(reference, index.reference, candidate, index.candidate)) {
      if (guesses++ == 0) guess = &index;
      continue;
    }
    if (unfit(left, right, steps.step, uncompared, verdict)) continue;
    add_pair(index, left, right, shared, work);
  }
  uncompared.report(steps.step, verdict);
  if (alike > 0) verdict.findings.push_back(alike_note(*first_alike, alike, steps.step));
  if (guess == nullptr) return work;
  verdict.coverage.unreadable += guesses;
  verdict.findings.push_back(verdict::guess_finding(reference.tensors[guess->reference],
                                                    candidate.tensors[guess->candidate], steps.step,
                                                    guesses));
  return work;
}

/// How many words the sides' configurations state.
std::set<std::int64_t> words_of(const Opened& reference, const Opened& candidate) {
  std::set<std::int64_t> words;
  for (const Opened* side : {&reference, &candidate}) {
    const Numbers numbers = numbers_of(side->facts);
    if (const auto found = numbers.find("vocab"); found != numbers.end()) {
      words.insert(found->second);
    }
  }
  return words;
}

}  // namespace

limits::LimitContext context_of_records(std::span<const Tensor> reference,
                                        std::span<const Tensor> candidate) {
  limits::LimitContext context;
  context.trace = true;
  for (const Tensor& tensor : reference) limits::observe(context, tensor);
  for (const Tensor& tensor : candidate) limits::observe(context, tensor);
  return context;
}

void sort_results(std::span<TensorResult> results, const align::Alignment& alignment,
                  std::span<const Tensor> reference) {
  std::unordered_map<Identity, std::size_t, IdentityHash> places;
  for (const align::PairIndex& pair : alignment.pairs) {
    places.try_emplace(reference[pair.reference].identity, places.size());
  }
  std::ranges::stable_sort(results, {},
                           [&](const TensorResult& result) { return places.at(result.identity); });
}

std::optional<MetStep> meet_step(const StepPair& steps, DiffContext& context, Verdict& verdict) {
  // Reading may use all threads by itself.
  MetStep met;
  met.sides = std::make_shared<std::array<Opened, 2>>(
      std::array{read_step(context.reference, steps.reference),
                 read_step(context.candidate, steps.candidate)});
  auto& [a, b] = *met.sides;
  place_undeclared(*met.sides, context);
  parallel_for(met.sides->size(), [&](std::size_t i) {
    put_together(i == 0 ? context.reference : context.candidate, met.sides->at(i));
  });
  const std::array partial = {tells_unread_files(a.findings), tells_unread_files(b.findings)};
  const bool has_a = add_side(context.reference, steps.reference, a, verdict, *verdict.reference,
                              context.reference_names);
  const bool has_b = add_side(context.candidate, steps.candidate, b, verdict, *verdict.candidate,
                              context.candidate_names);
  if (!has_a || !has_b) {
    count_unmet(a, verdict);
    count_unmet(b, verdict);
    return std::nullopt;
  }
  const std::vector<Tensor>& reference = a.assembly.tensors;
  std::vector<Tensor>& candidate = b.assembly.tensors;
  if (context.reference.unnamed && context.candidate.unnamed && !reference.empty() &&
      !candidate.empty()) {
    candidate.front().identity.name = reference.front().identity.name;
  }
  align::AlignOptions how = context.align;
  std::vector<FactResult> facts = verdict::compare_facts(
      a.facts, b.facts, same_ranks(context.reference.mesh, context.candidate.mesh));
  append(verdict.findings, verdict::fact_findings(facts, steps.step));
  met.step = steps.step;
  std::ranges::copy_if(facts, std::back_inserter(met.facts),
                       [](const FactResult& fact) { return fact.severity.has_value(); });
  if (context.first_step) verdict.facts = std::move(facts);

  met.trace = context.reference.trace && context.candidate.trace;
  Numbers numbers = numbers_of(a.facts);
  numbers.merge(numbers_of(b.facts));
  if (!context.reference.trace && !context.candidate.trace) {
    met.dequantised = align::dequantise(a.assembly.tensors, candidate, how.maps);
    how.used = met.dequantised.used;
  }
  how.reference_ties = ties_of(a.facts);
  how.candidate_ties = ties_of(b.facts);
  how.other_writer = context.reference.format != context.candidate.format;
  met.alignment = align::align(reference, candidate, how, numbers);
  name_views(met.dequantised, reference, candidate, met.alignment.pairs);
  cut_undeclared(met.alignment.pairs, *met.sides, context, verdict);
  report_leftovers({reference, candidate, met.alignment, steps.step, met.trace,
                    a.assembly.not_compared, b.assembly.not_compared, partial[0], partial[1]},
                   verdict);
  trim_vocabulary(a.assembly.tensors, candidate, met.alignment.pairs, words_of(a, b), steps.step,
                  verdict);
  sort_pairs(met.alignment.pairs, reference, candidate, context);
  if (context.options.show_map && context.first_step) {
    list_renames(met.alignment, reference, candidate, verdict);
  }
  met.work = work_of(met.alignment, a.assembly, b.assembly, steps, context, verdict);
  return met;
}

}  // namespace ttcheck::cli
