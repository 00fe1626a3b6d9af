// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>
#include <vector>

#include "core/model/kind.hpp"
#include "core/model/part_alone.hpp"
#include "reports/escape.hpp"
#include "reports/first.hpp"
#include "reports/story.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// What only one side has beside the weights of both: "42 more only in the candidate (loss 1, ..)".
std::string beside_words(const Coverage& coverage, std::int64_t OneSided::* side,
                         std::string_view name) {
  std::int64_t all = 0;
  std::vector<std::string> rules;
  for (const OneSided& one : coverage.beside) {
    if (one.*side == 0) continue;
    all += one.*side;
    rules.push_back(fmt::format("{} {}", terminal_text(one.rule), thousands(one.*side)));
  }
  if (all == 0) return "";
  return fmt::format("; {} more only in the {} ({})", thousands(all), name, fmt::join(rules, ", "));
}

/// What lies beside what met.
std::string tail(const Verdict& verdict) {
  return beside_words(verdict.coverage, &OneSided::reference, "reference") +
         beside_words(verdict.coverage, &OneSided::candidate, "candidate");
}

/// "all 11 of the reference" where the other side has more than these, else how many they are.
std::string equal_sentence(const Verdict& verdict) {
  const std::int64_t cast = casts_of(verdict.tally);
  const std::int64_t paired = verdict.coverage.paired;
  const bool more_here = !beside_words(verdict.coverage, &OneSided::reference, "").empty();
  const bool more_there = !beside_words(verdict.coverage, &OneSided::candidate, "").empty();
  const std::string these = more_here == more_there
                                ? counted(paired, "tensor")
                                : fmt::format("all {} of the {}", thousands(paired),
                                              more_here ? "candidate" : "reference");
  if (cast == 0) return these + ", bit for bit" + tail(verdict);
  return fmt::format("{}; {} of them after a cast ({}){}", these,
                     cast == paired ? "all" : thousands(cast), cast_words(verdict.tally),
                     tail(verdict));
}

/// Errors that say what one side lacks or has otherwise, while no numbers differ.
struct Unmet {
  std::int64_t missing = 0, unexpected = 0, shapes = 0;
  std::int64_t turned = 0;               ///< of these shapes
  bool weights = true, records = false;  ///< all of them are

  explicit Unmet(const Verdict& verdict) {
    for (const Finding& finding : verdict.findings) {
      if (finding.severity != Severity::error || finding.tensor.empty()) continue;
      const bool transposed = finding.code == Code::permutation;
      if (transposed) ++turned;
      if (transposed || finding.code == Code::shape_or_dtype) ++shapes;
      if (finding.code == Code::missing) ++missing;
      if (finding.code == Code::unexpected) ++unexpected;
      if (finding.code != Code::missing && finding.code != Code::unexpected) continue;
      records = finding.phase != Phase::none;
      weights = weights && !records && kind_of_name(finding.tensor) == Kind::weight;
    }
  }

  /// The word in front, where numbers do not differ but what there is does.
  std::string_view heading() const {
    if (missing > 0) return "MISSING";
    if (unexpected > 0) return "UNEXPECTED";
    if (shapes > 0 && turned == shapes) return "TRANSPOSED";
    return shapes > 0 ? "OTHER SHAPES" : "DIVERGED";
  }

  std::string sentence(const Verdict& verdict) const {
    const std::string_view others = verdict.tally.of(Outcome::noise) > 0
                                        ? "; the others are equal or within their limits"
                                        : "; the others are equal";
    const std::int64_t met = weights ? verdict.coverage.weights : verdict.coverage.paired;
    const std::string noun = weights ? "weight" : records ? "record" : "tensor";
    std::string text;
    if (missing > 0) {
      text = fmt::format("{} of {}", thousands(missing), counted(met + missing, noun));
      if (unexpected > 0) text += fmt::format(", and {} unexpected", thousands(unexpected));
    } else if (unexpected > 0) {
      text = fmt::format("{} of {}", thousands(unexpected), counted(met + unexpected, noun));
    } else if (shapes > 0) {
      return fmt::format("{} of {}{}", thousands(shapes),
                         counted(verdict.coverage.paired, "tensor"), others);
    } else {
      return "copies of one tensor are not the same; the two sides' tensors are equal";
    }
    if (shapes > 0) text += fmt::format(", {} of another shape", thousands(shapes));
    return text + std::string(others);
  }
};

/// What explains the differences of a run that is noise.
std::string_view within_words(const Verdict& verdict) {
  std::set<LimitKind> kinds;
  for (const TensorResult& one : verdict.tensors) {
    if (one.outcome() == Outcome::noise) kinds.insert(one.limit.kind);
  }
  kinds.erase(LimitKind::exact);
  if (kinds == std::set{LimitKind::tolerance}) return "all within the tolerance";
  if (kinds == std::set{LimitKind::measured}) return "by no more than repeated runs showed";
  kinds.erase(LimitKind::state);
  kinds.erase(LimitKind::model);
  return kinds.empty() ? "by no more than rounding explains" : "all within their limits";
}

std::string noise_sentence(const Verdict& verdict) {
  const std::int64_t differ = verdict.tally.of(Outcome::noise);
  return fmt::format("{} of {} {}, {}{}", thousands(differ),
                     counted(verdict.coverage.paired, "tensor"), differ == 1 ? "differs" : "differ",
                     within_words(verdict), tail(verdict));
}

/// "1 (tp 1 of 2)", or the coordinates as they are folded.
std::string rank_words(const std::vector<std::int32_t>& ranks, const AxisCoordinates& axes,
                       const Mesh& mesh) {
  std::vector<std::string> words;
  for (const auto& [axis, coordinates] : axes) {
    words.push_back(
        fmt::format("{} {} of {}", terminal_text(axis), folded(coordinates), mesh.size_of(axis)));
  }
  return folded(ranks) + (words.empty() ? "" : fmt::format(" ({})", fmt::join(words, ", ")));
}

/// ", on rank 1 (tp 1 of 2) only"; empty where there are no ranks, or one.
std::string on_ranks(const Verdict& verdict) {
  const Divergence& first = *verdict.first;
  const std::int64_t world = verdict.candidate ? verdict.candidate->mesh.world_size() : 1;
  if (first.ranks.empty() || world < 2) return "";
  if (std::ssize(first.ranks) == world)
    return world == 2 ? ", on both ranks" : fmt::format(", on all {} ranks", thousands(world));
  return fmt::format(", on {} {} only", first.ranks.size() == 1 ? "rank" : "ranks",
                     rank_words(first.ranks, first.axes, verdict.candidate->mesh));
}

/// "at layers.1.mlp.act_fn, forward of step 12".
std::string place_in_trace(const Divergence& first) {
  std::string text = fmt::format(
      "at {}, {}", terminal_text(first.op.empty() ? first.tensor : first.op), name(first.phase));
  if (first.step) text += fmt::format(" of step {}", *first.step);
  if (first.microbatch.value_or(0) > 0) text += fmt::format(", micro-batch {}", *first.microbatch);
  return text;
}

/// How many tensors of stored states are wrong, in which way, and in which part of the model.
std::string count_wrong(const Verdict& verdict) {
  const std::int64_t beyond = verdict.tally.of(Outcome::diverged);
  const std::int64_t paired = verdict.coverage.paired;
  const bool apart = std::ranges::find(verdict.findings, Code::trained_apart, &Finding::code) !=
                     verdict.findings.end();
  std::string text =
      beyond == paired && paired > 1
          ? (paired == 2 ? "both tensors" : fmt::format("all {}", counted(paired, "tensor")))
          : fmt::format("{} of {}", thousands(beyond), counted(paired, "tensor"));
  if (verdict.tally.steps.size() > 1)
    text += fmt::format(" in {} steps", verdict.tally.steps.size());
  text += beyond == 1 ? " differs" : " differ";
  const TensorResult* const only = beyond == 1 ? result_of_first(verdict) : nullptr;
  if (only != nullptr && only->metrics.unequal_values == 1) return text + ", in 1 element";
  const std::string part = terminal_text(
      part_alone(verdict.tensors, verdict.findings, paired, verdict.coverage.weights > 0));
  if (!part.empty()) return text + ": " + part;
  if (apart)
    return text + " as weights of another training do: that is no rounding, and no corruption";
  if (verdict.tally.of(Outcome::noise) > 0) text += " by more than rounding explains";
  return verdict.tally.borderline == beyond ? text + ", by less than twice: borderline" : text;
}

std::string wrong_sentence(const Verdict& verdict) {
  if (verdict.tally.of(Outcome::diverged) == 0) return Unmet(verdict).sentence(verdict);
  if (!verdict.first) return count_wrong(verdict);
  if (verdict.first->phase != Phase::none)
    return place_in_trace(*verdict.first) + on_ranks(verdict);
  std::string text = count_wrong(verdict) + on_ranks(verdict);
  const auto& step = verdict.first->step;
  if (verdict.tally.steps.size() < 2 || !step) return text;
  const auto at = verdict.tally.steps.lower_bound(*step);
  if (at == verdict.tally.steps.begin()) return fmt::format("from step {} on: {}", *step, text);
  return fmt::format("from step {} on (step {} agrees): {}", *step, *std::prev(at), text);
}

std::string heading(const Verdict& verdict) {
  switch (*verdict.outcome) {
    case Outcome::equal:
      return "EQUAL";
    case Outcome::noise:
      return "NOISE";
    case Outcome::diverged:
      return "DIVERGED";
    case Outcome::not_comparable:
      return verdict.reason == "undecided" ? "UNDECIDED" : "NOT COMPARABLE";
  }
  return "";
}

}  // namespace

std::int64_t errors_beside(const Verdict& verdict) {
  if (*verdict.outcome != Outcome::equal && *verdict.outcome != Outcome::noise) return 0;
  return std::ranges::count(verdict.findings, Severity::error, &Finding::severity);
}

std::int64_t known_differences(const Verdict& verdict) {
  std::int64_t count = 0;
  for (const KnownTold& one : verdict.known) count += one.count;
  return count;
}

/// "EQUAL, with 1 error": what is wrong beside values that are right.
std::string story_headline(const Verdict& verdict) {
  if (*verdict.outcome == Outcome::diverged && verdict.tally.of(Outcome::diverged) == 0) {
    return std::string(Unmet(verdict).heading());
  }
  std::string text = heading(verdict);
  if (const std::int64_t known = known_differences(verdict); known > 0) {
    const bool right = *verdict.outcome == Outcome::equal || *verdict.outcome == Outcome::noise;
    text +=
        fmt::format(", {} {}", right ? "but for" : "beside", counted(known, "known difference"));
  }
  const std::int64_t errors = errors_beside(verdict);
  return errors == 0 ? text : fmt::format("{}, with {}", text, counted(errors, "error"));
}

std::string story_sentence(const Verdict& verdict) {
  switch (*verdict.outcome) {
    case Outcome::equal:
      return equal_sentence(verdict);
    case Outcome::noise:
      return noise_sentence(verdict);
    case Outcome::diverged:
      return wrong_sentence(verdict);
    case Outcome::not_comparable:
      return verdict.reason == "undecided" && verdict.relation
                 ? message_text(verdict.relation->evidence)
                 : message_text(verdict.reason);
  }
  return "";
}

}  // namespace ttcheck::reports
