// SPDX-License-Identifier: Apache-2.0
// Every run is compared with the reference; runs in which nothing was changed on purpose also with
// each other, since two of them may lie on opposite sides of the reference. No two correct runs
// differ by half of a tensor's own size; what differs by less is a sample. Biases that chance moved
// do: two ways of one length are apart by as much as twice that.

#include "core/repeats/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/limits/siblings.hpp"
#include "core/limits/spread.hpp"
#include "core/model/name_rules.hpp"
#include "core/model/summary.hpp"
#include "core/repeats/bounded.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/tally.hpp"
#include "core/verdict/unread.hpp"

namespace ttcheck::repeats {
namespace {

constexpr double kNotNoise = 0.5;   // rel from which no two runs are the same
constexpr double kSuspicious = 10;  // times the limit model

std::string text_of(const Run& run, std::string_view name) {
  const Fact* fact = find_fact(run.facts, name);
  return fact == nullptr ? "" : to_string(fact->value);
}

/// What the run says was changed in it on purpose; empty: nothing.
std::string perturbation_of(const Run& run) {
  constexpr std::string_view kHead = "perturbation.";
  if (text_of(run, "role") != "perturbed") return "";
  std::string words;
  for (const Fact& fact : run.facts) {
    if (!fact.name.starts_with(kHead)) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", fact.name.substr(kHead.size()),
                         to_string(fact.value));
  }
  return words.empty() ? "perturbed" : words;
}

class Calibrating {
 public:
  Calibrating(std::span<const Run> runs, const diff::DiffOptions& how, Verdict& verdict)
      : runs_(runs), bounds_(bounded(how, kNotNoise, "calibrate", true)), verdict_(verdict) {
    bounds_.every_detail = true;
    for (const Run& run : runs) append(verdict_.findings, run.findings);
  }

  void run() {
    verdict_.outcome = Outcome::equal;
    verdict_.reference = summary_of(runs_.front());
    Calibration& what = verdict_.calibration.emplace();
    for (std::size_t i = 1; i < runs_.size(); ++i) {
      what.runs.push_back(runs_[i].path);
      what.perturbations.push_back(perturbation_of(runs_[i]));
    }
    for (std::size_t a = 0; a < runs_.size(); ++a) {
      for (std::size_t b = a + 1; b < runs_.size(); ++b) {
        const bool changed =
            !what.perturbations[b - 1].empty() || (a > 0 && !what.perturbations[a - 1].empty());
        if (a > 0 && changed) continue;
        if (interrupted() != 0) return stop();
        compare_two(runs_[a], runs_[b]);
        ++what.comparisons;
      }
    }
    for (const Run& run : runs_) {
      append(verdict_.findings, run.close());
      verdict_.coverage.bytes_read += run.bytes_read();
    }
    summarize(what);
  }

  const limits::Spread& spread() const { return spread_; }
  std::optional<limits::MeasuredStates> states() const {
    std::optional<limits::MeasuredStates> measured = states_;
    if (measured) measured->biases = biases_;
    return measured;
  }

 private:
  void stop() {
    verdict_.findings.push_back(verdict::interruption("not all runs were compared"));
    verdict_.outcome = Outcome::not_comparable;
    verdict_.reason = "interrupted";
    verdict_.complete = false;
  }

  void compare_two(const Run& a, const Run& b) {
    Verdict one = diff_within_bounds(a, b, bounds_);
    verdict_.coverage.paired += one.coverage.paired;
    verdict_.reference->tensors = one.reference->tensors;
    verdict_.reference->bytes = one.reference->bytes;
    verdict::add_tally(one.tally, verdict_.tally);
    for (const TensorResult& result : one.tensors) take_in(result);
    if (one.relation) take_in(*one.relation);
    join(verdict_, std::move(one));
  }

  void take_in(const TensorResult& result) {
    const bool stored = result.rule != kByHash && result.rule != kByStatistics;
    if (result.limit.kind != LimitKind::measured || !stored) return;
    if (result.test == Test::terms) return;  // of another unit, and held to no limit of its own
    Tensor tensor;
    tensor.identity = result.identity;
    tensor.kind = result.kind;
    tensor.dtype = result.dtype;
    tensor.shape = result.shape;
    measure_bias(result);
    limits::Sample sample;
    if (result.outcome() != Outcome::equal) {
      const double rel = result.metrics.rel();
      // Beyond the limit and noise all the same: without the updates that are none
      // (core/noise/updates).
      sample.rel = rel > result.limit.rel ? result.error : rel;
      if (result.detail && rel <= result.limit.rel) {
        sample.row = result.detail->row < 0 ? 0 : result.detail->row_error;
        sample.outlier = result.detail->outlier;
      }
    }
    if (epsilon(result.candidate_dtype) > epsilon(tensor.dtype)) {
      tensor.dtype = result.candidate_dtype;
    }
    spread_.add(tensor, sample);
  }

  void measure_bias(const TensorResult& result) {
    const std::string& name = result.identity.name;
    if (!result.moved || !limits::is_of_bias(name)) return;
    const double apart = result.moved->distance;
    if (!(apart > limits::kOdd * limits::Cuts().of(result.kind)) || std::isinf(apart)) return;
    double& most = biases_[limits::siblings_of(name)];
    most = std::max(most, apart);
  }

  void take_in(const Relation& relation) {
    if (!states_) states_.emplace();
    states_->weights = std::max(states_->weights, relation.weights);
    const bool differ = relation.weights > 0 || relation.kind != RelationKind::copies;
    if (differ) {
      states_->least = std::min(states_->least.value_or(relation.weights), relation.weights);
    }
    if (relation.moments >= 0) {
      states_->moments = std::max(states_->moments.value_or(0), relation.moments);
    }
  }

  void summarize(Calibration& what) {
    what.m = limits::kDefaultM;
    what.m0 = limits::kDefaultM0;
    what.eps = epsilon(spread_.context().coarsest);
    for (const limits::SpreadRow& row : spread_.rows()) {
      what.tensors.push_back({row.tensor.identity, row.largest.rel, row.largest.row,
                              row.largest.outlier, std::ssize(row.rels)});
    }
    if (*verdict_.outcome < Outcome::diverged) warn();
  }

  /// A run with a bug would make limits that hide it.
  void warn() {
    const limits::SpreadRow* worst = nullptr;
    double most = 0;
    std::int64_t beyond = 0;
    for (const limits::SpreadRow& row : spread_.rows()) {
      const double ratio = limits::beyond_model(row, spread_.context());
      if (ratio > kSuspicious) ++beyond;
      if (ratio > most) {
        most = ratio;
        worst = &row;
      }
    }
    if (beyond == 0) return;
    Finding finding = verdict::note(
        Code::unmeasured_noise, {},
        fmt::format("{} tensors differ by more than {:g} times what dtype and depth explain, this "
                    "one by {:.3g}, {:.3g} times: limits hide what is wrong with these runs",
                    beyond, kSuspicious, worst->largest.rel, most));
    finding.severity = Severity::warning;
    finding.phase = worst->tensor.identity.phase;
    finding.op = std::string(module_of(worst->tensor.identity));
    finding.tensor = worst->tensor.identity.name;
    verdict_.findings.push_back(std::move(finding));
  }

  std::span<const Run> runs_;
  diff::DiffOptions bounds_;
  Verdict& verdict_;
  limits::Spread spread_;
  std::optional<limits::MeasuredStates> states_;
  limits::BiasesApart biases_;
};

}  // namespace

Calibrated calibrate(std::span<const Run> runs, const diff::DiffOptions& how,
                     const std::string& program) {
  Calibrated made;
  Verdict& verdict = made.verdict;
  Calibrating calibrating(runs, how, verdict);
  calibrating.run();
  made.sound = *verdict.outcome < Outcome::diverged && verdict.complete &&
               std::ranges::none_of(
                   verdict.findings,
                   [](const Finding& finding) { return finding.severity == Severity::error; });
  const Calibration& what = *verdict.calibration;
  made.limits.m = what.m;
  made.limits.m0 = what.m0;
  made.limits.origin = {program, verdict.reference->path, what.runs, what.perturbations,
                        what.comparisons};
  made.limits.states = calibrating.states();
  made.limits.entries = calibrating.spread().entries();
  return made;
}

}  // namespace ttcheck::repeats
