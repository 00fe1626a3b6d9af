// SPDX-License-Identifier: Apache-2.0
// Two correct runs differ because sums are taken in another order and results are rounded when they
// are stored. One op adds c units of round-off; through L layers such errors add up like
// independent ones, so with sqrt(L):
//
//   rel <= c(dtype, K) * eps * sqrt(L) * k(kind)
//
// L     layers that lie behind a record: i + 1 at layer i of the forward pass; of a gradient, which
//       came through all of them and back, 2 n - i of n. Where names do not tell, n, or 2 n.
// eps   spacing at 1 of the coarsest floating dtype that either side recorded.
// c     16-bit and narrower types round when storing while products accumulate in fp32: c = 3.
//       fp32 and wider accumulate in their own precision, where the order of K additions shows:
//       c = 8 + sqrt(K), K the longest extent recorded (probabilistic bound of Higham and Mary,
//       "A New Approach to Probabilistic Rounding Error Analysis", 2019: sqrt(K) in place of K).
// k     a second moment is a square: 2. Parameters after an update carry only the update's error:
// 1/3.
//
// Parameters that earlier steps left apart, all within their own limits, make what is computed with
// them differ about as much, through a network like independent errors again; from the backward
// pass on twice that, by the parameters and by what the forward pass made of the same differences.
// So later steps are allowed that as well, but at most as much again as the above: runs that are
// further apart have parted. Elements whose last update had its sign by chance are told one by one
// (core/noise/updates); what they make differ, the next update too, is not held to that bound but
// allowed five times what they are apart, from then on: nothing brings them together again. But
// for those, parameters are held to the same limit in every step, so that a small error which adds
// up from step to step shows.
//
// Worst row and outliers: a clean row was seen at up to 4 x the tensor's rel and a clean element at
// up to 11 x (traces of TP, SP, PP, CP, EP, ZeRO and FSDP against one device, fp32 and bf16), so
// rows may reach 6 x and elements 16 x the limit. Bugs of that set start at 40 x eps.

#include "core/limits/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ttcheck::limits {
namespace {

constexpr double kStoreRounding = 3;   // c of types that accumulate in something wider
constexpr double kAccumulateBase = 8;  // c of types that accumulate in themselves, plus sqrt(K)
constexpr double kSquare = 2;          // k of second moments
constexpr double kUpdated = 1.0 / 3;   // k of parameters after an optimizer step
constexpr double kApartInLimits = 1;   // what is allowed for parameters apart, in limits
constexpr double kOfChance = 5;        // and for what chance made them apart: few, large elements

/// c of the model.
double rounding_of(const LimitContext& context) {
  const bool narrow = epsilon(context.coarsest) > epsilon(DType::f32);
  return narrow ? kStoreRounding
                : kAccumulateBase + std::sqrt(static_cast<double>(context.length()));
}

}  // namespace

double op_roundoff(const LimitContext& context) {
  return rounding_of(context) * epsilon(context.coarsest);
}

double kind_factor(const Tensor& tensor) {
  if (tensor.kind == Kind::moment2) return kSquare;
  if (is_parameter(tensor.kind) && tensor.identity.phase == Phase::optimizer) return kUpdated;
  return 1;
}

void widen_by_apart(Limit& limit, const Tensor& reference, const Apart& apart) {
  const double noise = is_parameter(reference.kind) ? 0 : apart.noise;
  if (!(noise + apart.chance > 0)) return;
  const double times = passes_of(reference) * kind_factor(reference);
  const double more =
      std::min(kApartInLimits * limit.rel, times * noise) + kOfChance * times * apart.chance;
  if (limit.group.empty() || limit.kind == LimitKind::model) {
    limit.group = limit.words() + " + what parameters are apart";
  }
  limit.rel += more;
  limit.row += kRowFactor * more;
  limit.outlier += kOutlierFactor * more;
  limit.source += fmt::format(" + {:.2g} that parameters are apart", more);
}

Limit model_limit(const Tensor& reference, const LimitContext& context) {
  const double eps = epsilon(context.coarsest);
  const double rounding = rounding_of(context);
  const double kind = kind_factor(reference);
  const std::int64_t layers = context.layers_to(reference);
  const double depth = std::sqrt(static_cast<double>(layers));
  Limit limit;
  limit.kind = LimitKind::model;
  limit.rel = rounding * eps * depth * kind;
  limit.row = kRowFactor * limit.rel;
  limit.outlier = kOutlierFactor * limit.rel;
  const std::string model =
      fmt::format("{} model: {:.3g} eps x sqrt(depth", name(context.coarsest), rounding * kind);
  limit.source = fmt::format("{} {})", model, layers);
  const std::int64_t most = passes_of(reference) * context.layers();
  if (most > 1) limit.group = fmt::format("{}, up to {})", model, most);
  widen_by_apart(limit, reference, context.apart);
  return limit;
}

}  // namespace ttcheck::limits
