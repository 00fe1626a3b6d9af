// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/align/compiled_graphs.hpp"
#include "core/align/undecoded.hpp"
#include "core/base/error.hpp"
#include "core/base/for_reason.hpp"
#include "core/base/interrupted.hpp"
#include "core/compare/hash.hpp"
#include "core/diff/meet_axis_by_values.hpp"
#include "core/diff/meet_filters.hpp"
#include "core/diff/meet_leftovers.hpp"
#include "core/diff/meet_order.hpp"
#include "core/diff/meet_pairs.hpp"
#include "core/diff/meet_vocabulary.hpp"
#include "core/diff/open_sides.hpp"
#include "core/diff/undeclared.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"
#include "core/model/name_rules.hpp"
#include "core/model/stated_numbers.hpp"
#include "core/verdict/facts.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::diff {
namespace {

/// Places what the other side's shape alone does not: by values.
void cut_undeclared(MetStep& met, const DiffContext& context, Verdict& verdict) {
  auto& [a, b] = *met.sides;
  const auto cut = [&](bool reference, const Mesh& mesh, RunSummary& summary) {
    OpenedStep& side = reference ? a : b;
    const OpenedStep& other = reference ? b : a;
    const CutTotal made = cut_by_values(side.assembly.tensors, other.assembly.tensors,
                                        met.alignment.pairs, reference, mesh);
    summary.bytes += made.bytes;
    if (made.tensors > 0) verdict.findings.push_back(cut_note(made.tensors, met.step));
  };
  cut(true, context.reference.mesh, *verdict.reference);
  cut(false, context.candidate.mesh, *verdict.candidate);
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

/// Adds to the rule of a pair how the values of a side were got.
void name_views(const align::Dequantised& made, std::span<const Tensor> reference,
                std::span<const Tensor> candidate, std::vector<align::PairIndex>& pairs) {
  if (made.rules.empty()) return;
  for (align::PairIndex& pair : pairs) {
    for (const Tensor* side : {&reference[pair.reference], &candidate[pair.candidate]}) {
      const auto rule = made.rules.find(side->identity.name);
      if (!side->rounding || rule == made.rules.end()) continue;
      pair.rule = pair.rule == kSameName ? rule->second : pair.rule + ", " + rule->second;
    }
  }
}

/// Names that met by a rule, of the first step alone: the others have the same.
void list_renames(const MetStep& met, Verdict& verdict) {
  for (std::size_t place = 0; place < met.alignment.pairs.size(); ++place) {
    if (met.is_evidence(place)) continue;
    const align::PairIndex& pair = met.alignment.pairs[place];
    const Tensor& reference = met.reference()[pair.reference];
    const Tensor& candidate = met.candidate()[pair.candidate];
    const std::string& left = reference.identity.name;
    const std::string& right = candidate.identity.name;
    const bool rounded = reference.rounding || candidate.rounding;
    if (left != right || rounded) verdict.renames.push_back({left, right, pair.rule});
  }
}

/// Pairs of weights, of those that are reported.
std::int64_t weights_of(const MetStep& met) {
  std::int64_t count = 0;
  for (std::size_t place = 0; place < met.alignment.pairs.size(); ++place) {
    const Tensor& tensor = met.reference()[met.alignment.pairs[place].reference];
    const bool weight = tensor.kind == Kind::weight && tensor.identity.phase == Phase::none;
    if (weight && !met.is_evidence(place)) ++count;
  }
  return count;
}

/// How many words the sides' configurations state.
std::set<std::int64_t> words_of(const std::array<OpenedStep, 2>& sides) {
  std::set<std::int64_t> words;
  for (const OpenedStep& side : sides) {
    const Numbers numbers = numbers_of(side.facts);
    if (const auto found = numbers.find("vocab"); found != numbers.end()) {
      words.insert(found->second);
    }
  }
  return words;
}

/// Facts of both sides, and what they come to.
void meet_facts(MetStep& met, const DiffContext& context, Verdict& verdict) {
  const auto& [a, b] = *met.sides;
  std::vector<FactResult> facts = verdict::compare_facts(
      a.facts, b.facts, same_ranks(context.reference.mesh, context.candidate.mesh));
  append(verdict.findings, verdict::fact_findings(facts, met.step));
  std::ranges::copy_if(facts, std::back_inserter(met.facts),
                       [](const FactResult& fact) { return fact.severity.has_value(); });
  if (!context.memory.first_step) return verdict::add_facts(met.facts, met.step, verdict.facts);
  verdict.facts = std::move(facts);
}

/// Whether a side is one array, which has no name but the file's.
bool is_bare(const Run& run, const std::vector<Tensor>& tensors) {
  return tensors.size() == 1 && (run.unnamed || tensors.front().identity.name.empty());
}

/// What is read where names do not tell. A signal or an error ends it: names are left to meet
/// nothing.
std::optional<align::Content> content_of(const Tensor& tensor, std::int64_t begin,
                                         std::int64_t count) {
  if (interrupted() != 0 || !tensor.stored || !tensor.holes.empty()) return std::nullopt;
  try {
    const compare::Hash hash = compare::hash_of_range(tensor, begin, count);
    return align::Content{hash.text, hash.constant};
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::vector<double>> values_of(const Tensor& tensor, std::int64_t begin,
                                             std::int64_t count) {
  if (interrupted() != 0 || !tensor.stored || !tensor.holes.empty()) return std::nullopt;
  if (is_complex(tensor.dtype)) return std::nullopt;
  try {
    std::vector<std::byte> bytes(byte_size(tensor.dtype, count));
    gather(tensor, begin, count, bytes);
    std::vector<double> values(static_cast<std::size_t>(count));
    to_doubles(tensor.dtype, bytes.data(), count, values.data());
    return values;
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The one reason for weights that were packed.
void report_undecoded(const align::Undecoded& packed, std::optional<std::int64_t> step,
                      DiffContext& context, Verdict& verdict) {
  context.told.precondition = "4-bit weights are not decoded";
  Finding& finding = verdict.findings.emplace_back(verdict::note(
      Code::unreadable, step,
      fmt::format("4-bit weights are not decoded: the {} has {} of the other side's weights so; "
                  "dequantise them, then compare",
                  packed.candidate ? "candidate" : "reference", packed.weights)));
  finding.severity = Severity::warning;
  finding.incomplete = true;
  finding.tensor = packed.first;
}

/// Names that meet.
void meet_names(MetStep& met, DiffContext& context, Verdict& verdict) {
  auto& [a, b] = *met.sides;
  std::vector<Tensor>& reference = a.assembly.tensors;
  std::vector<Tensor>& candidate = b.assembly.tensors;
  if (is_bare(context.reference, reference) && is_bare(context.candidate, candidate)) {
    std::string& name = reference.front().identity.name;
    std::string& other = candidate.front().identity.name;
    (name.empty() ? name : other) = name.empty() ? other : name;
  }
  align::AlignOptions how = context.how.align;
  Numbers numbers = numbers_of(a.facts);
  numbers.merge(numbers_of(b.facts));
  if (!context.reference.trace && !context.candidate.trace) {
    met.dequantised =
        for_reason("bad-map", [&] { return align::dequantise(reference, candidate, how.maps); });
    how.used = met.dequantised.used;
  }
  how.reference_ties = ties_of(a.facts);
  how.candidate_ties = ties_of(b.facts);
  how.reference_graphs = align::graphs_of(a.facts);
  how.candidate_graphs = align::graphs_of(b.facts);
  how.other_writer = context.reference.format != context.candidate.format;
  how.content = content_of;
  how.values = values_of;
  how.joined = context.memory.joined;
  met.alignment = for_reason(how.maps.empty() ? "bad-names" : "bad-map",
                             [&] { return align::align(reference, candidate, how, numbers); });
  std::ranges::copy(met.alignment.joined, std::back_inserter(context.memory.joined));
  name_views(met.dequantised, reference, candidate, met.alignment.pairs);
  const align::Undecoded packed = align::exclude_undecoded(reference, candidate, met.alignment);
  if (packed.weights > 0) report_undecoded(packed, met.step, context, verdict);
}

}  // namespace

std::optional<MetStep> meet_step(const StepPair& steps, DiffContext& context, Verdict& verdict) {
  MetStep met;
  met.steps = steps;
  met.step = steps.step;
  met.trace = context.reference.trace && context.candidate.trace;
  met.sides = open_sides(steps, context, verdict);
  if (!met.sides) return std::nullopt;
  auto& [a, b] = *met.sides;
  const std::array partial = {verdict::tells_unread_files(a.findings),
                              verdict::tells_unread_files(b.findings)};
  meet_facts(met, context, verdict);
  meet_names(met, context, verdict);
  cut_undeclared(met, context, verdict);
  sort_pairs(met.alignment.pairs, *met.sides, context);
  apply_filters(met, context.how.names);
  verdict.coverage.weights += weights_of(met);
  const std::string other_model =
      report_leftovers({met.reference(), met.candidate(), met.alignment, met.step, met.trace,
                        a.assembly.not_compared, b.assembly.not_compared, partial[0], partial[1],
                        ties_of(a.facts).embeddings || ties_of(b.facts).embeddings},
                       verdict);
  if (context.told.precondition.empty()) context.told.precondition = other_model;
  trim_vocabulary(a.assembly.tensors, b.assembly.tensors, met.alignment.pairs, met.evidence,
                  words_of(*met.sides), met.step, verdict);
  if (context.how.list_renames && context.memory.first_step) list_renames(met, verdict);
  meet_pairs(met, context, verdict);
  return met;
}

}  // namespace ttcheck::diff
