// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_leftovers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/align/adapters.hpp"
#include "core/align/meeting.hpp"
#include "core/align/names.hpp"
#include "core/base/name_map.hpp"
#include "core/diff/another_model.hpp"
#include "core/diff/propose_map.hpp"
#include "core/diff/stored_twice.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

const std::string kFreeRule = "rep=any";

/// Names, without wrappers, that a reader found but could not describe, in this step.
NameSet unreadable_names(const Verdict& verdict, std::optional<std::int64_t> step) {
  NameSet names;
  for (const Finding& finding : verdict.findings) {
    const bool here = !finding.step || finding.step == step;
    if (here && finding.incomplete && !finding.tensor.empty())
      names.insert(align::bare(finding.tensor));
  }
  return names;
}

/// What one side has and the other lacks.
struct OneSide {
  std::span<const Tensor> tensors;
  std::span<const std::size_t> alone;
  std::size_t align::PairIndex::* index;  ///< of this side in a pair
  std::span<const Identity> free_there;   ///< of the other side
  Code code;
  bool partial_there;  ///< what was not read of the other side may hold any of these
  bool whole_there;    ///< the other side is a dict as it was saved: what is not there was lost
  bool other_model;    ///< what is not there is no loss
};

std::vector<std::size_t> met(const align::Alignment& alignment,
                             std::size_t align::PairIndex::* side) {
  std::vector<std::size_t> indices;
  indices.reserve(alignment.pairs.size());
  for (const align::PairIndex& pair : alignment.pairs) indices.push_back(pair.*side);
  return indices;
}

const std::string kAdapterRule = "adapter";

/// An adapter against its base: what it is, and that what is left over has no counterpart.
void report_adapter(const align::Adapter& adapter, const Aligned& aligned, Verdict& verdict) {
  const std::string_view side = adapter.is_candidate ? "candidate" : "reference";
  const std::string_view other = adapter.is_candidate ? "reference" : "candidate";
  const auto base = std::ranges::count(adapter.is_candidate ? aligned.reference : aligned.candidate,
                                       Kind::weight, &Tensor::kind);
  Finding& finding = verdict.findings.emplace_back();
  finding.code = Code::name_mapping;
  finding.severity = Severity::warning;
  finding.incomplete = true;
  finding.step = aligned.step;
  finding.message = fmt::format(
      "the {} is an adapter{}: {} factors that change {} of the {}'s {} tensors, {} first, and "
      "none of these weights themselves; a merged weight is base + scale * B A, which is not "
      "computed: "
      "merge the adapter, then compare",
      side, adapter.rank > 0 ? fmt::format(" of rank {}", adapter.rank) : "", adapter.factors,
      adapter.targets, other, base, adapter.first);
  verdict::exclude(
      verdict.coverage, kAdapterRule,
      std::ssize(aligned.alignment.only_reference) + std::ssize(aligned.alignment.only_candidate));
}

/// What a built-in map would have needed.
Finding unknown_finding(const Aligned& aligned) {
  return verdict::note(
      Code::name_mapping, aligned.step,
      fmt::format("more names could meet if {} were known, which no config states: say them "
                  "in [model] of --map FILE",
                  fmt::join(aligned.alignment.unknown, ", ")));
}

/// Stacked experts that no shape tells the way of.
Finding unclear_finding(const Aligned& aligned) {
  Finding finding = verdict::note(
      Code::name_mapping, aligned.step,
      fmt::format(
          "experts are square and may lie transposed or not, which nothing tells: say it with op "
          "stack(0), stack_turned, stack_glu or stack_glu_turned in --map FILE (stacks like this: "
          "{})",
          aligned.alignment.unclear.size()));
  finding.tensor = *aligned.alignment.unclear.begin();
  return finding;
}

/// What may be in the files and ranks of one side that were not read.
Finding unread_finding(std::int64_t count, std::string_view side,
                       std::optional<std::int64_t> step) {
  Finding finding = verdict::note(
      Code::missing_rank, step,
      fmt::format("tensors that the {} lacks, which may be in what of it is not there or cannot be "
                  "read: {}",
                  side, count));
  finding.incomplete = true;
  return finding;
}

/// A file of tensors by their names, whose writer leaves none out but where it says so: other
/// writers keep one name of a tied tensor.
bool is_plain_dict(const std::optional<RunSummary>& run) {
  constexpr auto kFormats =
      std::to_array<std::string_view>({"safetensors", "torch", "npz", "npy", "hdf5"});
  return run && std::ranges::find(kFormats, run->format) != kFormats.end();
}

/// What a slice leaves out is no tensor of its own.
Finding slice_finding(const std::string& rule, std::int64_t count,
                      std::optional<std::int64_t> step) {
  return verdict::note(
      Code::name_mapping, step,
      fmt::format("{}: what lies outside of its slice is not compared, in pairs of tensors: {}",
                  rule, count));
}

/// A tensor that the configuration ties to one that both sides have, and that is not the same.
void call_loose(Finding& finding, const Tensor& other) {
  finding.code = Code::tie_mismatch;
  finding.message +=
      fmt::format("; the configuration ties it to {}, from which it differs", other.identity.name);
}

/// Says of each tensor that `side` has alone what it is; `count`: of those that are only there.
void report_side(const OneSide& side, const Aligned& aligned, const NameSet& unreadable,
                 std::int64_t& count, Verdict& verdict) {
  if (side.alone.empty()) return;
  const auto paired = met(aligned.alignment, side.index);
  const auto meet = aligned.trace ? align::neighbours_meet(side.tensors, paired, side.alone)
                                  : std::vector<bool>(side.alone.size(), false);
  const StoredTwice twice = side.whole_there && !aligned.tied
                                ? StoredTwice{}
                                : stored_twice(side.tensors, side.alone, paired);
  std::int64_t unread = 0;
  for (std::size_t n = 0; n < side.alone.size(); ++n) {
    const Tensor& tensor = side.tensors[side.alone[n]];
    if (!side.whole_there && twice.copies.contains(side.alone[n])) {
      verdict::exclude(verdict.coverage, kStoredTwice, 1);
    } else if (unreadable.contains(align::bare(tensor.identity.name))) {
      ++verdict.coverage.unreadable;
    } else if (std::ranges::find(side.free_there, tensor.identity) != side.free_there.end()) {
      verdict::exclude(verdict.coverage, kFreeRule, 1);
    } else if (side.partial_there) {
      ++unread;
    } else {
      ++count;
      const Severity severity = meet[n] ? Severity::warning : Severity::error;
      Finding finding = verdict::leftover_finding(tensor, aligned.step, side.code,
                                                  side.other_model ? Severity::note : severity);
      const auto tied = twice.others.find(side.alone[n]);
      if (aligned.tied && tied != twice.others.end()) {
        call_loose(finding, side.tensors[tied->second]);
      }
      verdict.findings.push_back(std::move(finding));
    }
  }
  verdict.coverage.unreadable += unread;
  const std::string_view there = side.code == Code::missing ? "candidate" : "reference";
  if (unread > 0) verdict.findings.push_back(unread_finding(unread, there, aligned.step));
}

}  // namespace

std::string report_leftovers(const Aligned& aligned, Verdict& verdict) {
  for (const auto& [rule, count] : aligned.alignment.excluded_by) {
    verdict::exclude(verdict.coverage, rule, count);
  }
  for (const OneSided& one : aligned.alignment.beside) {
    verdict::add_beside(verdict.coverage, one);
  }
  for (const auto& [rule, count] : aligned.alignment.sliced_by) {
    verdict.findings.push_back(slice_finding(rule, count, aligned.step));
  }
  const auto free = std::ssize(aligned.free_reference) + std::ssize(aligned.free_candidate);
  if (free > 0) verdict::exclude(verdict.coverage, kFreeRule, free);
  if (const auto adapter =
          align::find_adapter(aligned.reference, aligned.candidate, aligned.alignment)) {
    report_adapter(*adapter, aligned, verdict);
    return "";
  }
  const auto unreadable = unreadable_names(verdict, aligned.step);
  const align::Alignment& alignment = aligned.alignment;
  const bool both = !alignment.only_reference.empty() && !alignment.only_candidate.empty();
  auto map = both ? propose_map(aligned) : std::nullopt;
  const std::string reason = another_model(aligned, map && map->is_whole(aligned));
  report_side({aligned.reference, alignment.only_reference, &align::PairIndex::reference,
               aligned.free_candidate, Code::missing, aligned.candidate_partial,
               is_plain_dict(verdict.candidate), !reason.empty()},
              aligned, unreadable, verdict.coverage.only_reference, verdict);
  report_side({aligned.candidate, alignment.only_candidate, &align::PairIndex::candidate,
               aligned.free_reference, Code::unexpected, aligned.reference_partial,
               is_plain_dict(verdict.reference), !reason.empty()},
              aligned, unreadable, verdict.coverage.only_candidate, verdict);
  if (!reason.empty()) {
    verdict.findings.push_back(verdict::note(Code::name_mapping, aligned.step, reason));
    verdict.findings.back().severity = Severity::warning;
    if (map && map->is_whole(aligned)) verdict.findings.push_back(std::move(map->finding));
    return reason;
  }
  if (!both) return "";
  if (!alignment.unknown.empty()) verdict.findings.push_back(unknown_finding(aligned));
  if (!alignment.unclear.empty()) verdict.findings.push_back(unclear_finding(aligned));
  if (map) verdict.findings.push_back(std::move(map->finding));
  return "";
}

}  // namespace ttcheck::diff
