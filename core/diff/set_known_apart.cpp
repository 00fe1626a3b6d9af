// SPDX-License-Identifier: Apache-2.0
#include "core/diff/set_known_apart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/locate/first.hpp"
#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

const std::string kRule = "known";

using Place = std::pair<std::optional<std::int64_t>, Identity>;  ///< a record of a step

Place place_of(const Finding& finding) {
  return {finding.step, {finding.tensor, finding.phase, finding.microbatch, finding.call}};
}

class Known {
 public:
  Known(const verdict::KnownFile& file, Verdict& verdict)
      : file_(file),
        verdict_(verdict),
        matched_(file.differences.size()),
        first_(file.differences.size()) {}

  void take_out() {
    take_findings();
    take_results();
    take_heirs();
    std::erase_if(verdict_.roots,
                  [&](const ErrorRoot& root) { return is_taken(root.step, root.identity); });
  }

  /// A head does not tell the micro-batch of what was merged.
  bool has_taken(const Divergence& first) const {
    return std::ranges::any_of(taken_, [&](const auto& taken) {
      const auto& [step, identity] = taken.first;
      return step == first.step && identity.name == first.tensor && identity.phase == first.phase &&
             identity.call == first.call && identity.microbatch == first.microbatch.value_or(0);
    });
  }

  void tell() {
    for (std::size_t i = 0; i < matched_.size(); ++i) {
      const verdict::KnownDifference& one = file_.differences[i];
      if (matched_[i] > 0) {
        verdict_.known.push_back({matched_[i], one.reason, one.date, first_[i]});
        continue;
      }
      Finding& none = verdict_.findings.emplace_back(
          verdict::note(Code::missing, {},
                        fmt::format("line {} of {} matches nothing that differs: {} (since {})",
                                    one.line, file_.file, one.reason, one.date)));
      none.severity = Severity::warning;
    }
  }

 private:
  bool is_taken(const std::optional<std::int64_t>& step, const Identity& identity) const {
    return taken_.contains({step, identity});
  }

  /// The entry that has that finding; nothing where none has.
  std::optional<std::size_t> entry_of(const Finding& finding) const {
    if (finding.incomplete || finding.severity == Severity::note) return std::nullopt;
    const Identity identity = place_of(finding).second;
    for (std::size_t i = 0; i < file_.differences.size(); ++i) {
      const verdict::KnownDifference& one = file_.differences[i];
      const bool named = one.tensors.empty() || !finding.tensor.empty();
      if (one.has(finding.code) && named && one.is_of(identity)) return i;
    }
    return std::nullopt;
  }

  void take_findings() {
    std::set<Place> results;
    for (const TensorResult& one : verdict_.tensors) results.insert({one.step, one.identity});
    std::erase_if(verdict_.findings, [&](const Finding& finding) {
      const auto entry = entry_of(finding);
      const Place place = place_of(finding);
      if (!entry) {
        if (finding.severity != Severity::note) open_.insert(place);
        return false;
      }
      of_steps_[finding.step].insert(*entry);
      told_.emplace(place, *entry);
      if (!results.contains(place)) {
        count(*entry, finding.tensor);
        uncount(finding);
      }
      return true;
    });
  }

  /// A tensor that has no result: it met none, or one of another shape.
  void uncount(const Finding& finding) {
    Coverage& coverage = verdict_.coverage;
    if (finding.tensor.empty() || finding.severity != Severity::error) return;
    if (finding.code == Code::missing) {
      --coverage.only_reference;
      verdict::exclude(coverage, kRule, 1);
    } else if (finding.code == Code::unexpected) {
      --coverage.only_candidate;
      verdict::exclude(coverage, kRule, 1);
    } else if (finding.code == Code::shape_or_dtype) {
      --coverage.paired;
      verdict::exclude(coverage, kRule, 2);
    }
  }

  std::optional<std::size_t> entry_of(const TensorResult& result) const {
    const bool beyond =
        result.outcome() == Outcome::diverged || result.outcome() == Outcome::not_comparable;
    if (!beyond) return std::nullopt;
    const Place place{result.step, result.identity};
    if (const auto told = told_.find(place); told != told_.end() && !open_.contains(place)) {
      return told->second;
    }
    if (open_.contains(place)) return std::nullopt;  // something else is wrong with it, too
    const auto here = of_steps_.find(result.step);
    for (std::size_t i = 0; i < file_.differences.size(); ++i) {
      const verdict::KnownDifference& one = file_.differences[i];
      const bool called = one.codes.empty() || one.has(Code::diverged) ||
                          (here != of_steps_.end() && here->second.contains(i));
      if (called && one.is_of(result.identity)) return i;
    }
    return std::nullopt;
  }

  void take_results() {
    std::erase_if(verdict_.tensors, [&](const TensorResult& result) {
      const auto entry = entry_of(result);
      if (entry) take(result, *entry);
      return entry.has_value();
    });
  }

  void count(std::size_t entry, const std::string& tensor) {
    if (matched_[entry]++ == 0) first_[entry] = tensor;
  }

  void take(const TensorResult& result, std::size_t entry) {
    count(entry, result.identity.name);
    const std::uint64_t bytes = byte_size(result.dtype, element_count(result.shape));
    std::uint64_t& compared = verdict_.coverage.bytes_compared;
    compared -= std::min(compared, bytes);
    taken_.emplace(Place(result.step, result.identity), entry);
    --verdict_.coverage.paired;
    verdict::exclude(verdict_.coverage, kRule, 2);
  }

  /// What only passes on an error that was taken belongs to it.
  void take_heirs() {
    std::map<std::pair<std::optional<std::int64_t>, std::size_t>, std::size_t> heirs;  // its entry
    for (const ErrorRoot& root : verdict_.roots) {
      const auto taken = taken_.find({root.step, root.identity});
      if (taken == taken_.end()) continue;
      for (const std::size_t pair : root.heirs) heirs.try_emplace({root.step, pair}, taken->second);
    }
    std::erase_if(verdict_.tensors, [&](const TensorResult& one) {
      const auto heir = heirs.find({one.step, one.pair});
      const bool passes = heir != heirs.end() && one.outcome() == Outcome::diverged;
      if (passes) take(one, heir->second);
      return passes;
    });
    std::erase_if(verdict_.findings, [&](const Finding& finding) {
      const auto [step, identity] = place_of(finding);
      return finding.severity != Severity::note && !finding.incomplete && is_taken(step, identity);
    });
  }

  const verdict::KnownFile& file_;
  Verdict& verdict_;
  std::vector<std::int64_t> matched_;  ///< by entry: results, and findings of what has none
  std::vector<std::string> first_;     ///< by entry: the first of them
  std::map<Place, std::size_t> told_;  ///< records of which a finding was taken
  std::set<Place> open_;               ///< and of which one stayed
  std::map<std::optional<std::int64_t>, std::set<std::size_t>> of_steps_;  ///< entries that matched
  std::map<Place, std::size_t> taken_;  ///< results, and the entries that have them
};

/// Where an error came about first, of the results that are left; else the first of them.
void find_first(const Mesh& mesh, Verdict& verdict) {
  verdict.first.reset();
  verdict.profile.reset();
  const std::span<const TensorResult> results(verdict.tensors);
  auto at = locate::first_diverged(results);
  if (!at) return;
  std::optional<bool> introduced;
  if (!verdict.roots.empty()) {
    const ErrorRoot& root = verdict.roots.front();
    const auto there = std::ranges::find_if(results, [&](const TensorResult& one) {
      return one.step == root.step && one.identity == root.identity;
    });
    if (there != results.end()) {
      at = static_cast<std::size_t>(there - results.begin());
      introduced = true;
    }
  }
  const TensorResult& first = results[*at];
  verdict.first = locate::divergence_of(first, introduced, mesh);
  const auto step = std::ranges::find(results, first.step, &TensorResult::step);
  const auto begin = static_cast<std::size_t>(step - results.begin());
  if (first.trace) verdict.first->before = locate::right_in(results.subspan(begin, *at - begin));
}

}  // namespace

void set_known_apart(const verdict::KnownFile& known, const Mesh& candidate_mesh,
                     Verdict& verdict) {
  Known work(known, verdict);
  work.take_out();
  if (verdict.first && work.has_taken(*verdict.first)) find_first(candidate_mesh, verdict);
  work.tell();
}

}  // namespace ttcheck::diff
