// SPDX-License-Identifier: Apache-2.0
#include "core/noise/multiples.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "core/noise/excuse.hpp"
#include "core/noise/parameter_place.hpp"
#include "core/noise/rules.hpp"
#include "core/noise/update_length.hpp"
#include "core/noise/wider.hpp"

namespace ttcheck::noise {
namespace {

using Amount = Multiples::Amount;

Amount larger(const Amount& a, const Amount& b) {
  return {std::max(a.norm, b.norm), std::max(a.most, b.most)};
}

class AlongMultiples : public Excuser {
 public:
  AlongMultiples(const StepRecords& step, std::span<const TensorResult> results, Carried& carried)
      : step_(step), results_(results), carried_(carried), times_(stated_multiple(step)) {
    if (!times_) return;
    recorded_ = records_updates(step);
    for (const TensorResult& one : results_) {
      if (is_parameter_gradient(one.kind)) slopes_[place_of(one)] = &one;  // the last one counts
    }
  }

  bool look(TensorResult& result) override {
    if (!is_of_parameter(result) || !is_open_to_noise(result)) return false;
    const Multiples& multiples = behind(result);
    const double norm = std::sqrt(result.metrics.sum_a2), rms = result.metrics.reference_rms();
    const Amount& apart = multiples.apart;
    if (!multiples.known || !(apart.norm > 0) || !(norm > 0)) return false;
    const Through through{apart.norm / norm, apart.most / rms, apart.most / rms};
    if (!is_within(result, through)) return false;
    widen(result, through, kMultiple, "of updates along gradients that differ within their limits");
    return true;
  }

  /// What is left for later steps, of all parameters.
  bool finish(std::span<TensorResult> results, Carried& /*carried*/) override {
    for (const TensorResult& one : results) {
      if (is_of_parameter(one)) behind(one);
    }
    for (const auto& [place, slope] : slopes_) {
      Multiples& multiples = carried_.multiples[place];
      multiples.known = multiples.known && slope->outcome() != Outcome::diverged;
      multiples.slope = larger(multiples.slope, apart_of(*slope));
    }
    return false;
  }

 private:
  bool is_of_parameter(const TensorResult& result) const {
    const Phase phase = result.identity.phase;
    return times_ && is_parameter(result.kind) &&
           (phase == Phase::optimizer || phase == Phase::state);
  }

  /// What updates up to this record may have made. Asked again, it is the same.
  const Multiples& behind(const TensorResult& result) {
    const std::string place = place_of(result);
    Multiples& multiples = carried_.multiples[place];
    if (result.identity.phase == Phase::optimizer) {
      update(multiples, place);
    } else {
      find(multiples);
    }
    return multiples;
  }

  static Amount apart_of(const TensorResult& result) {
    return {std::sqrt(result.metrics.sum_d2), result.metrics.max_abs};
  }

  std::string place_of(const TensorResult& result) const {
    return parameter_place(*step_.pairs[result.pair].reference);
  }

  /// Behind this step's update: `times_` of the largest difference so far, this step's included.
  void update(Multiples& multiples, const std::string& place) {
    begin(multiples);
    const auto slope = slopes_.find(place);
    const bool seen = slope != slopes_.end() && slope->second->outcome() != Outcome::diverged;
    multiples.known = multiples.known && seen;
    if (!seen) return;
    grow(multiples, larger(multiples.slope, apart_of(*slope->second)), 1);
  }

  /// As a step finds it: updates that no step recorded went along gradients as large as those seen.
  void find(Multiples& multiples) {
    if (recorded_) return;
    const bool numbered = step_.step && multiples.step;
    const double updates = numbered ? static_cast<double>(*step_.step - *multiples.step) : 0;
    begin(multiples);
    if (updates > 0) grow(multiples, multiples.slope, updates);
  }

  void begin(Multiples& multiples) {
    if (multiples.step != step_.step || !step_.step) multiples.before = multiples.apart;
    multiples.step = step_.step;
  }

  void grow(Multiples& multiples, const Amount& slope, double updates) const {
    multiples.apart = {multiples.before.norm + updates * *times_ * slope.norm,
                       multiples.before.most + updates * *times_ * slope.most};
  }

  const StepRecords& step_;
  std::span<const TensorResult> results_;
  Carried& carried_;
  std::optional<double> times_;  ///< nothing: the optimizer is another, or not stated
  bool recorded_ = false;        ///< steps record what their update left
  std::map<std::string, const TensorResult*> slopes_;  ///< gradients, by place
};

}  // namespace

std::unique_ptr<Excuser> along_multiples(const StepRecords& step,
                                         std::span<const TensorResult> results, Carried& carried) {
  return std::make_unique<AlongMultiples>(step, results, carried);
}

}  // namespace ttcheck::noise
