// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/verdict/holders.hpp"

namespace ttcheck::verdict {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

double ratio_of(double error, double limit) {
  if (error == 0 || std::isinf(limit)) return 0;  // without a limit, nothing is beyond it
  return limit == 0 ? kInfinite : error / limit;
}

/// Row and outlier tests hold only beside a rel limit that was modelled or measured.
bool has_shape_tests(const Limit& limit) {
  return limit.kind == LimitKind::model || limit.kind == LimitKind::measured;
}

/// How far a rank's own part is beyond the tensor's limit, by itself.
double rank_ratio(const Metrics& metrics, const Limit& limit) {
  if (metrics.non_finite_disagree > 0) return kInfinite;
  if (limit.kind == LimitKind::tolerance) return metrics.max_quotient;
  return metrics.unequal_values == 0 ? 0 : ratio_of(metrics.rel(), limit.rel);
}

/// Largest |b - a| as a part of the rms of A; where squares are beyond what a double holds, of the
/// larger of the two values.
double spike_of(const Metrics& metrics) {
  const double rms = metrics.reference_rms();
  return rms > 0 && std::isfinite(rms) ? metrics.max_abs / rms : metrics.max_rel;
}

/// Largest rms of b - a over 512 elements, likewise.
double block_of(const Metrics& metrics) {
  const double rms = metrics.reference_rms();
  if (!(rms > 0) || !std::isfinite(rms)) return metrics.max_rel;
  const double length = static_cast<double>(std::min<std::int64_t>(metrics.count, 512));
  return std::sqrt(metrics.max_block_d2 / length) / rms;
}

/// Against its siblings: by what they are apart, and by what all of the pair is.
void apply_state_tests(TensorResult& result, const Metrics& metrics, const Limit& limit) {
  const double distance = result.moved ? result.moved->distance : 0;
  const auto offer = [&](double error, double allowed, Test test) {
    const double ratio = ratio_of(error, allowed);
    if (result.test == Test::none || !(ratio <= result.ratio)) {
      set_test(result, test, error, allowed);
    }
  };
  offer(distance, limit.odd, Test::moved);
  if (result.detail) {
    const double block = block_of(metrics);
    const double row = result.detail->row >= 0 ? result.detail->row_error : block;
    offer(std::min(block, row), limit.row, Test::row);
    offer(std::min(spike_of(metrics), result.detail->outlier), limit.outlier, Test::outlier);
  }
  result.odd = !(result.ratio <= 1);
  if (!result.odd) set_test(result, Test::moved, distance, limit.rel);
}

/// Sets the test that is furthest beyond its limit.
void apply_tests(TensorResult& result, const Metrics& metrics, const Limit& limit) {
  const auto offer = [&](double error, double allowed, Test test) {
    const double ratio = ratio_of(error, allowed);  // NaN: a row beyond fp64's range; `rel` decides
    if (result.test == Test::none || ratio > result.ratio) set_test(result, test, error, allowed);
  };
  if (metrics.non_finite_disagree > 0) {
    set_test(result, Test::non_finite, kInfinite, limit.rel);
    result.ratio = kInfinite;  // of no limit, too: it speaks of values
    return;
  }
  if (limit.kind == LimitKind::tolerance) return offer(metrics.max_quotient, 1, Test::elementwise);
  if (limit.kind == LimitKind::state) return apply_state_tests(result, metrics, limit);
  if (!has_shape_tests(limit)) return offer(metrics.rel(), limit.rel, Test::exact);
  offer(metrics.rel(), limit.rel, Test::rel);
  if (result.sentinel) {
    offer(result.sentinel->rel, limit.rel, Test::rest);
    offer(result.sentinel->outlier, limit.outlier, Test::rest);
  }
  if (!result.detail) return;
  if (result.detail->row >= 0) offer(result.detail->row_error, limit.row, Test::row);
  offer(result.detail->outlier, limit.outlier, Test::outlier);
}

std::shared_ptr<const Places> places_of(const Tensor& reference, const Tensor& candidate,
                                        const Metrics& metrics) {
  auto places = std::make_shared<Places>();
  const std::int64_t worst = worst_index(metrics);
  places->reference = place_of(reference, worst);
  places->candidate = place_of(candidate, worst);
  return places;
}

/// The ranks of a stored state, which all differ by something, that do by far more than most; else
/// all that differ.
std::vector<std::int32_t> odd_ranks(const std::vector<RankError>& ranks) {
  constexpr double kOdd = 10;
  std::vector<double> errors;
  for (const RankError& one : ranks) errors.push_back(one.metrics.rel());
  std::ranges::sort(errors);
  const double usual = errors.empty() ? 0 : errors[(errors.size() - 1) / 2];
  std::vector<std::int32_t> odd, differ;
  for (const RankError& one : ranks) {
    if (one.metrics.unequal_values > 0) differ.push_back(one.rank);
    const bool disagrees = one.metrics.non_finite_disagree > 0;
    if (disagrees || one.metrics.rel() > kOdd * usual) odd.push_back(one.rank);
  }
  return odd.empty() ? differ : odd;
}

}  // namespace

std::optional<std::string> equal_under(const Tensor& reference, const Tensor& candidate,
                                       const Metrics& metrics) {
  if (metrics.non_finite_disagree > 0) return std::nullopt;
  if (metrics.unequal_values == 0) {
    if (metrics.unequal_bits > 0) return metrics.reference.nan > 0 ? "nan-payload" : "signed-zero";
    if (reference.dtype == candidate.dtype) return "";
    if (holds_all_of(candidate.dtype, reference.dtype)) {
      return fmt::format("widening {}", name(candidate.dtype));
    }
    if (holds_all_of(reference.dtype, candidate.dtype)) {
      return fmt::format("widening {}", name(reference.dtype));
    }
    return fmt::format("same values in {}", name(candidate.dtype));
  }
  if (metrics.rounds_to_candidate) return fmt::format("rounding {}", name(candidate.dtype));
  if (metrics.rounds_to_reference) return fmt::format("rounding {}", name(reference.dtype));
  return std::nullopt;
}

bool needs_detail(const Tensor& reference, const Metrics& metrics, const Limit& limit,
                  const std::optional<Moved>& moved) {
  if (metrics.non_finite_disagree > 0) return true;
  if (metrics.unequal_values == 0) return false;
  if (limit.kind == LimitKind::tolerance) return metrics.max_quotient > 1;
  if (limit.kind == LimitKind::state) {
    return !moved || !(moved->distance <= limit.odd) || !(block_of(metrics) <= limit.row) ||
           !(spike_of(metrics) <= limit.outlier);
  }
  if (!has_shape_tests(limit)) return true;
  if (!(metrics.rel() <= limit.rel)) return true;
  const double count = static_cast<double>(metrics.count);
  const double mean_square = metrics.sum_a2 / count;  // of an element of A
  if (!(metrics.max_abs <= limit.outlier * std::sqrt(mean_square))) return true;
  if (reference.shape.size() < 2) return false;
  // A row's d^2 is at most that of the 512-element runs it touches; its norm counts for at least
  // the rms row norm.
  const double length = static_cast<double>(reference.shape.back());
  const double row_d2 = metrics.max_block_d2 * (std::ceil(length / 512) + 1);
  return !(row_d2 <= limit.row * limit.row * mean_square * length);
}

bool may_hide(const Tensor& reference, const Metrics& metrics, const Limit& limit) {
  if (limit.kind != LimitKind::model || !(limit.rel > 0) || metrics.unequal_values == 0)
    return false;
  if (reference.identity.phase == Phase::backward || !(metrics.rel() <= limit.rel)) return false;
  // Of elements that are beyond a limit together, one is by itself.
  return metrics.max_rel >= limit.rel / (1 + limit.rel);
}

bool beyond(const Sentinel& sentinel, const Limit& limit) {
  return sentinel.rel > limit.rel || sentinel.outlier > limit.outlier;
}

void set_test(TensorResult& result, Test test, double error, double allowed) {
  result.test = test;
  result.error = error;
  result.allowed = allowed;
  result.ratio = ratio_of(error, allowed);
}

std::vector<std::int32_t> wrong_ranks(const std::vector<RankError>& ranks, const Limit& limit) {
  if (limit.kind == LimitKind::state) return odd_ranks(ranks);
  std::vector<std::int32_t> wrong;
  for (const RankError& one : ranks) {
    if (!(rank_ratio(one.metrics, limit) <= 1)) wrong.push_back(one.rank);
  }
  return wrong;
}

TensorResult result_of(const Tensor& reference, const Tensor& candidate) {
  TensorResult result;
  result.identity = reference.identity;
  if (candidate.identity.name != reference.identity.name) {
    result.candidate_name = candidate.identity.name;
  }
  result.kind = reference.kind;
  result.trace = reference.trace;
  result.shape = reference.shape;
  result.dtype = reference.dtype;
  result.candidate_dtype = candidate.dtype;
  return result;
}

TensorResult judge(const Tensor& reference, const Tensor& candidate, const Metrics& metrics,
                   const Limit& limit, Closer closer) {
  TensorResult result = result_of(reference, candidate);
  result.metrics = metrics;
  result.sentinel = closer.sentinel;
  result.detail = std::move(closer.detail);
  result.ranks = std::move(closer.ranks);
  result.moved = closer.moved;
  result.limit = limit;
  if (const auto cast = equal_under(reference, candidate, metrics)) {
    result.cast = *cast;
    return result;
  }
  apply_tests(result, metrics, limit);
  const bool diverged =
      !(result.ratio <= 1) || (limit.kind != LimitKind::tolerance && limit.rel == 0);
  const bool open = diverged && limit.open && !result.odd && metrics.non_finite_disagree == 0;
  result.by_limit = open ? Outcome::not_comparable : diverged ? Outcome::diverged : Outcome::noise;
  if (result.by_limit != Outcome::diverged) return result;
  result.places = places_of(reference, candidate, metrics);
  result.wrong_ranks = wrong_ranks(result.ranks, limit);
  if (result.wrong_ranks.empty()) {
    result.wrong_ranks = holders(candidate, worst_index(metrics));
  }
  return result;
}

TensorResult as_replica_divergence(const Tensor& reference, const Tensor& candidate,
                                   TensorResult result,
                                   const std::vector<std::int32_t>& differing) {
  const auto beyond = wrong_ranks(result.ranks, result.limit);
  if (result.outcome() != Outcome::equal) {  // else no element is the worst
    result.places = places_of(reference, candidate, result.metrics);
  }
  result.test = Test::replica;
  result.wrong_ranks = beyond.empty() ? differing : beyond;
  if (beyond.empty()) {
    result.limit = {};
    result.limit.source = "exact: replicas of one tensor";
  }
  for (const RankError& one : result.ranks) {
    if (std::ranges::find(result.wrong_ranks, one.rank) == result.wrong_ranks.end()) continue;
    result.error = std::max(result.error, one.metrics.rel());
    if (worst_index(one.metrics) >= 0 && one.metrics.max_abs >= result.metrics.max_abs) {
      result.metrics = one.metrics;
    }
  }
  set_test(result, Test::replica, result.error, result.limit.rel);
  return result;
}

TensorResult as_wrong_by_itself(const Tensor& reference, const Tensor& candidate,
                                TensorResult result, Test test, double error, double allowed,
                                const std::vector<std::int32_t>& ranks) {
  result.allowance.reset();
  set_test(result, test, error, allowed);
  result.places = places_of(reference, candidate, result.metrics);
  result.wrong_ranks = ranks.empty() ? holders(candidate, worst_index(result.metrics)) : ranks;
  return result;
}

bool wrong_by_itself(const TensorResult& result) {
  return result.test == Test::recomputed || result.test == Test::unmoved ||
         result.test == Test::lean || result.test == Test::own;
}

bool part_decides(const Metrics& part, const Limit& limit) {
  if (part.non_finite_disagree > 0) return true;
  if (limit.kind == LimitKind::tolerance) return part.max_quotient > 1;
  return limit.rel == 0 && part.unequal_values > 0;
}

}  // namespace ttcheck::verdict
