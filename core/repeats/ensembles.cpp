// SPDX-License-Identifier: Apache-2.0
// Each pair of runs is compared once, streamed; of every tensor only the distances stay. A
// difference counts where relabelling the runs makes one like it in less than one of a hundred ways
// (core/limits/ensemble.cpp).

#include "core/repeats/ensembles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/interrupted.hpp"
#include "core/base/name_map.hpp"
#include "core/limits/ensemble.hpp"
#include "core/locate/first.hpp"
#include "core/locate/origins.hpp"
#include "core/model/summary.hpp"
#include "core/repeats/bounded.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::repeats {
namespace {

constexpr double kLevel = 0.01;  // of one false alarm among all tensors
constexpr double kAnything = 1e300;

/// One tensor of one step, in all runs.
struct Row {
  TensorResult result;  ///< of the first run of each group
  double norm = 1;      ///< of the first run's
  limits::Distances distances;
  std::size_t seen = 0;  ///< pairs of runs that have it
  bool unlike = false;   ///< NaN or Inf disagree somewhere
};

class Ensembles {
 public:
  Ensembles(std::span<const Run> runs, std::size_t first, const diff::DiffOptions& how,
            Verdict& verdict)
      : bounds_(bounded(how, kAnything, "diff", false)),
        all_(how.keep_equal),
        verdict_(verdict),
        first_(first),
        runs_(runs) {
    for (const Run& run : runs) append(verdict_.findings, run.findings);
    pairs_ = runs_.size() * (runs_.size() - 1) / 2;
  }

  void run() {
    verdict_.reference = summary_of(runs_.front());
    verdict_.candidate = summary_of(runs_[first_]);
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      for (std::size_t j = i + 1; j < runs_.size(); ++j) {
        if (interrupted() == 0) compare_two(i, j);
      }
    }
    for (const Run& run : runs_) {
      append(verdict_.findings, run.close());
      verdict_.coverage.bytes_read += run.bytes_read();
    }
    if (interrupted() != 0) {
      verdict_.findings.push_back(verdict::interruption("not all runs were compared"));
      return undecided("interrupted");
    }
    drop_incomplete();
    judge();
  }

 private:
  void undecided(const std::string& reason) {
    verdict_.outcome = Outcome::not_comparable;
    verdict_.reason = reason;
    verdict_.complete = false;
  }

  void compare_two(std::size_t i, std::size_t j) {
    Verdict one = diff_within_bounds(runs_[i], runs_[j], bounds_);
    if (i == 0 && j == first_) {
      verdict_.reference->tensors = one.reference->tensors;
      verdict_.reference->bytes = one.reference->bytes;
      verdict_.candidate->tensors = one.candidate->tensors;
      verdict_.candidate->bytes = one.candidate->bytes;
    }
    for (TensorResult& result : one.tensors) take_in(std::move(result), i, j);
    join(verdict_, std::move(one));
  }

  void take_in(TensorResult&& result, std::size_t i, std::size_t j) {
    if (result.limit.kind != LimitKind::measured) return;
    if (i < first_ && j >= first_ && !result.candidate_name.empty()) {
      names_.try_emplace(result.candidate_name, result.identity.name);
    }
    if (i >= first_) {  // by the name that the first group has for it
      const auto name = names_.find(result.identity.name);
      if (name != names_.end()) result.identity.name = name->second;
    }
    const auto [place, fresh] = places_.try_emplace({result.step, result.identity}, rows_.size());
    if (fresh) {
      rows_.emplace_back().distances.resize(pairs_);
      rows_.back().result.identity = result.identity;
    }
    Row& row = rows_[place->second];
    if (i == 0 && j == 1 && result.metrics.sum_a2 > 0) row.norm = std::sqrt(result.metrics.sum_a2);
    row.distances[limits::pair_at(i, j, runs_.size())] = std::sqrt(result.metrics.sum_d2);
    row.unlike = row.unlike || result.outcome() == Outcome::diverged;
    ++row.seen;
    if (i == 0 && j == first_) row.result = std::move(result);
  }

  /// What not all runs have, or holds NaN in some, was said by the comparisons.
  void drop_incomplete() {
    const auto before = std::ssize(rows_);
    std::erase_if(rows_, [this](const Row& row) { return row.seen < pairs_ || row.unlike; });
    const auto dropped = before - std::ssize(rows_);
    if (dropped > 0) verdict::exclude(verdict_.coverage, "not alike in all runs", dropped);
    for (Row& row : rows_) {
      for (double& distance : row.distances) distance /= row.norm;
    }
  }

  void judge() {
    std::vector<limits::Distances> distances;
    for (const Row& row : rows_) distances.push_back(row.distances);
    const limits::Ensemble found = limits::separate(distances, first_, runs_.size(), kLevel);
    const std::string groups = fmt::format("{} + {} runs", first_, runs_.size() - first_);
    const bool all_equal = std::ranges::all_of(rows_, [](const Row& row) {
      return std::ranges::all_of(row.distances, [](double one) { return one == 0; });
    });
    label(found);
    verdict_.coverage.paired = std::ssize(rows_);
    if (*verdict_.outcome >= Outcome::diverged) return;
    if (rows_.empty()) return undecided("nothing was compared");
    if (!found.decidable && !all_equal) return too_few(found, groups);
    std::vector<TensorResult> results;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      results.push_back(result_of(rows_[i], found.tensors[i], found, groups));
    }
    conclude(results, found);
  }

  TensorResult result_of(Row& row, const limits::Separation& separation,
                         const limits::Ensemble& found, const std::string& groups) const {
    TensorResult result = std::move(row.result);
    result.limit = {};
    result.limit.kind = LimitKind::measured;
    result.limit.rel = result.limit.measured = found.critical;
    result.limit.source =
        fmt::format("{:g}% of {} relabellings of {}", 100 * kLevel, found.relabellings, groups);
    verdict::set_test(result, Test::energy, std::max(separation.energy, 0.0), found.critical);
    result.allowance.reset();
    result.by_limit = separation.p < kLevel ? Outcome::diverged : Outcome::noise;
    const bool equal =
        std::ranges::all_of(row.distances, [](double distance) { return distance == 0; });
    if (equal) result.by_limit = Outcome::equal;
    return result;
  }

  void conclude(std::vector<TensorResult>& results, const limits::Ensemble& found) {
    const auto first = locate::first_diverged(results);
    std::vector<locate::Origin> origins(results.size());
    if (runs_.front().trace) origins = locate::origins_of(results);
    if (first) {
      verdict_.outcome = Outcome::diverged;
      verdict_.first =
          locate::divergence_of(results[*first], origins[*first].introduced, runs_[first_].mesh);
      verdict_.first->index.reset();  // no element is the worst of a group
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i].outcome() != Outcome::diverged) continue;
      const limits::Separation& one = found.tensors[i];
      Finding finding = verdict::divergence_finding(results[i], runs_[first_].mesh);
      finding.index.reset();
      finding.message = fmt::format(
          "the groups are {:.3g} apart, runs of one group {:.3g}; energy distance {:.3g} is {:.3g} "
          "x "
          "what relabelling allows, p = {:.2g} for any tensor",
          one.between, one.floor, one.energy, results[i].ratio, one.p);
      if (origins[i].introduced) {
        const Identity& root = results[origins[i].root].identity;
        finding.message += *origins[i].introduced
                               ? "; introduced here"
                               : fmt::format("; inherited from {} {}", name(root.phase), root.name);
      }
      verdict_.findings.push_back(std::move(finding));
    }
    for (TensorResult& result : results) {
      verdict::add_result(std::move(result), all_, verdict_);
    }
    verdict::count_kept(verdict_.tensors, verdict_.tally);
  }

  /// Which noise there is: none within a group, or some from run to run.
  void label(const limits::Ensemble& found) {
    const Row* run_to_run = nullptr;
    const Row* variant = nullptr;
    std::int64_t varying = 0, variants = 0;
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      bool within = false, between = false;
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        for (std::size_t j = i + 1; j < runs_.size(); ++j) {
          const bool differs = rows_[n].distances[limits::pair_at(i, j, runs_.size())] > 0;
          ((i < first_) == (j < first_) ? within : between) |= differs;
        }
      }
      if (within && varying++ == 0) run_to_run = &rows_[n];
      if (!within && between && variants++ == 0) variant = &rows_[n];
    }
    if (run_to_run != nullptr) {
      const double floor = found.tensors[static_cast<std::size_t>(run_to_run - rows_.data())].floor;
      add_note(Code::nondeterministic, *run_to_run,
               fmt::format("{} tensors differ from run to run within a group, this one first, by "
                           "{:.3g} (median)",
                           varying, floor));
    }
    if (variant != nullptr) {
      add_note(Code::batch_variant, *variant,
               fmt::format("{} tensors are the same in all runs of a group and not from group to "
                           "group: something that the groups do not share, such as what is batched "
                           "together, decides them",
                           variants));
    }
  }

  void add_note(Code code, const Row& row, std::string message) {
    Finding finding = verdict::note(code, row.result.step, std::move(message));
    finding.phase = row.result.identity.phase;
    finding.op = std::string(module_of(row.result.identity));
    finding.tensor = row.result.identity.name;
    verdict_.findings.push_back(std::move(finding));
  }

  void too_few(const limits::Ensemble& found, const std::string& groups) {
    const auto apart = [](const limits::Separation& one) {
      return one.between == 0 ? 0 : one.between / one.floor;  // infinite where groups are of one
    };
    const auto best = std::ranges::max_element(found.tensors, {}, apart);
    const Row& row = rows_[static_cast<std::size_t>(best - found.tensors.begin())];
    undecided(fmt::format("{} allow p >= {:.2g}, not p < {:g}: 5 + 5 runs would do", groups,
                          1 / static_cast<double>(found.relabellings), kLevel));
    add_note(Code::unmeasured_noise, row,
             fmt::format("farthest apart: {:.3g} from group to group, {:.3g} within a group",
                         best->between, best->floor));
  }

  using Key = std::pair<std::optional<std::int64_t>, Identity>;

  diff::DiffOptions bounds_;
  bool all_;
  Verdict& verdict_;
  std::size_t first_;
  std::size_t pairs_ = 0;
  std::span<const Run> runs_;
  std::vector<Row> rows_;
  std::map<Key, std::size_t> places_;
  NameMap<std::string> names_;  ///< of the second group -> of the first
};

}  // namespace

Verdict diff_ensembles(std::span<const Run> runs, std::size_t first, const diff::DiffOptions& how) {
  Verdict verdict;
  Ensembles(runs, first, how, verdict).run();
  return verdict;
}

}  // namespace ttcheck::repeats
