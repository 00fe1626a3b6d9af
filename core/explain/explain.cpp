// SPDX-License-Identifier: Apache-2.0
#include "core/explain/explain.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/compare/sampled.hpp"
#include "core/explain/bit_flip.hpp"
#include "core/explain/byte_order.hpp"
#include "core/explain/known.hpp"
#include "core/explain/localised.hpp"
#include "core/explain/mean_of_means.hpp"
#include "core/explain/moments_reset.hpp"
#include "core/explain/offset.hpp"
#include "core/explain/partial_sum.hpp"
#include "core/explain/permutation.hpp"
#include "core/explain/precision.hpp"
#include "core/explain/rank_sum.hpp"
#include "core/explain/rotated_known.hpp"
#include "core/explain/scale.hpp"
#include "core/explain/survey.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kFloor = 1e-3;  ///< of the error: residuals below it count as this
constexpr double kFit = 30;      ///< times that a hypothesis must leave less than the error
constexpr std::size_t kMost = 3;
constexpr Code kOfPlaces[] = {Code::localised, Code::chunk, Code::tile, Code::bit_flip};

template <auto function>
std::vector<Explanation> one_of(const Subject& subject, const Survey& seen) {
  std::vector<Explanation> list;
  if constexpr (requires { function(subject, seen); }) {
    if (auto found = function(subject, seen)) list.push_back(std::move(*found));
  } else {
    if (auto found = function(subject)) list.push_back(std::move(*found));
  }
  return list;
}

/// Every hypothesis, in the order in which equal scores are listed.
constexpr std::vector<Explanation> (*kHypotheses[])(const Subject&, const Survey&) = {
    one_of<moments_reset>,
    one_of<bit_flip>,
    one_of<partial_sum>,
    one_of<rank_sum>,
    one_of<scale>,
    one_of<offset>,
    known,
    one_of<rotated_known>,
    one_of<permutation>,
    one_of<mean_of_means>,
    one_of<precision>,
    one_of<byte_order>,
    localised,
};

std::vector<Explanation> all_of(const Subject& subject, const Survey& seen) {
  std::vector<Explanation> all;
  for (const auto hypothesis : kHypotheses) {
    auto found = hypothesis(subject, seen);
    all.insert(all.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  }
  return all;
}

bool is_of_places(const Explanation& one) {
  return std::ranges::find(kOfPlaces, one.code) != std::end(kOfPlaces);
}

/// Those that leave little enough, with their weights.
std::vector<Explanation> fitting(const Subject& subject, std::vector<Explanation> found) {
  const Metrics& metrics = subject.metrics();
  const Limit& limit = subject.result->limit;
  const double noise = limit.kind == LimitKind::tolerance ? limit.rtol : limit.rel;
  // A few wrong elements are little of a whole tensor; their own test says how far they are off.
  // What a hypothesis leaves is a share of the candidate, so an error of several times is one too.
  const double ratio = subject.result->ratio;
  const double beyond = std::max(metrics.rel(), std::isfinite(ratio) ? ratio * noise : 0);
  const double larger = std::sqrt(std::max(metrics.sum_b2 / metrics.sum_a2, 1.0));
  const double error = std::min(beyond, std::max(1.0, metrics.rel() / larger));
  const double floor = std::max(std::min(noise, error / kFit), kFloor * error);
  const double most = std::max(noise, error / kFit);
  const auto score = [&](const Explanation& one) {
    return std::max(one.hypothesis.residual, floor) * one.penalty;
  };
  if (metrics.non_finite_disagree > 0) {
    // What is right but for turned bits is told by them, also where nothing finite differs.
    const auto flip = std::ranges::find(found, Code::bit_flip, &Explanation::code);
    if (flip != found.end() && flip->hypothesis.residual <= noise) {
      flip->hypothesis.weight = 1;
      return {std::move(*flip)};
    }
  }
  // Of a NaN or Inf on one side only, what is finite says nothing; where it is does.
  std::erase_if(found, [&](const Explanation& one) {
    if (!std::isfinite(one.hypothesis.residual)) return true;
    if (metrics.non_finite_disagree > 0) {
      return one.code != Code::localised && one.code != Code::byte_order;
    }
    if (!(one.hypothesis.residual <= most) || !(score(one) < error)) return true;
    // What is right as a whole and wrong in places is explained by what is true of all of it only
    // if that leaves less.
    return !is_of_places(one) && metrics.rel() <= noise &&
           one.hypothesis.residual > metrics.rel() / 2;
  });
  std::ranges::stable_sort(found, {}, score);
  if (found.size() > kMost) found.resize(kMost);
  double sum = std::isfinite(error) && error > 0 ? 1 / error : 0;
  for (const Explanation& one : found) sum += 1 / score(one);
  for (Explanation& one : found) one.hypothesis.weight = 1 / score(one) / sum;
  return found;
}

/// Whether a number is what a binomial distribution of so many draws may give.
bool may_be_drawn(double number, double draws, double share) {
  constexpr double kSigmas = 5;  // beyond them one in 1.7 million is
  return std::abs(number - draws * share) <= kSigmas * std::sqrt(draws * share * (1 - share));
}

/// Whether unequal elements, each of which is wrong, lie as if each were so by itself: a sample has
/// as many as there are, and as often one beside one that is equal. Those of any place have fewer
/// such neighbours, or more.
bool wrong_everywhere(const Subject& subject, const Survey& sample) {
  const Limit& limit = subject.result->limit;
  if (limit.kind != LimitKind::exact && limit.kind != LimitKind::copy) return false;
  const Metrics& metrics = subject.metrics();
  const auto count = static_cast<double>(metrics.count);
  const double share = static_cast<double>(metrics.unequal_values) / count;
  const double drawn = compare::kMostSampled;
  return may_be_drawn(static_cast<double>(sample.wrong) / count * drawn, drawn, share) &&
         may_be_drawn(static_cast<double>(sample.changes), static_cast<double>(sample.neighbours),
                      2 * share * (1 - share));
}

/// Is the pair wrong in most places, and in none of the ways that would be true of all of it?
/// Whether in places alone a sample tells of what training moved, which has none, and where it is
/// known to stand for all.
bool sample_fits_none(const Subject& subject, Effort effort) {
  const std::int64_t count = element_count(subject.pair.reference->shape);
  if (count <= 2 * compare::kMostSampled) return false;  // it would be read twice
  const Survey seen = survey_sample(subject);
  return seen.most_ranges_differ && (effort == Effort::sample || wrong_everywhere(subject, seen)) &&
         std::ranges::all_of(fitting(subject, all_of(subject, seen)), is_of_places);
}

}  // namespace

double noise_of(const TensorResult& result) {
  const double eps = std::max(epsilon(result.dtype), epsilon(result.candidate_dtype));
  return std::max(4 * eps, result.limit.kind == LimitKind::tolerance ? 0.0 : result.limit.rel);
}

std::vector<Explanation> explanations(const Subject& subject, Effort effort) {
  if (is_complex(subject.pair.reference->dtype)) return {};
  std::vector<Explanation> found;
  if (effort == Effort::sums) return fitting(subject, one_of<scale>(subject, {}));
  try {
    if (sample_fits_none(subject, effort)) return {};
    found = all_of(subject, survey(subject));
  } catch (const Error&) {  // its metrics stand
  }
  return fitting(subject, std::move(found));
}

}  // namespace ttcheck::explain
