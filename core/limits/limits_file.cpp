// SPDX-License-Identifier: Apache-2.0
#include "core/limits/limits_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/limits/model.hpp"

namespace ttcheck::limits {

const LimitEntry* LimitsFile::entry_for(const Identity& identity) const {
  const LimitEntry* best = nullptr;  // the last one, so the one at the highest address
  const auto offer = [&](std::size_t i) {
    const LimitEntry& entry = entries[i];
    if (entry.phase == Phase::none || entry.phase == identity.phase) best = std::max(best, &entry);
  };
  const std::string_view op = module_of(identity);
  for (const std::string_view name : {std::string_view(identity.name), op}) {
    const auto found = by_name.find(std::string(name));
    if (found == by_name.end()) continue;
    for (const std::size_t i : found->second) offer(i);
  }
  for (auto i = with_wildcards.rbegin(); i != with_wildcards.rend(); ++i) {
    if (best != nullptr && &entries[*i] < best) break;
    if (entries[*i].glob->matches(identity.name) || entries[*i].glob->matches(op)) offer(*i);
  }
  return best;
}

Cuts cuts_of(const LimitsFile* limits) {
  Cuts cuts;
  if (limits == nullptr || !limits->states) return cuts;
  const auto& [weights, moments, biases, least] = *limits->states;
  cuts.times = limits->m;
  cuts.measured = true;
  cuts.biases = &biases;
  cuts.seen = weights;
  cuts.weights = std::max(limits->m * weights, cuts.weights);
  const bool roundings = weights <= epsilon(DType::f32);  // about one of each value, or none
  const bool varies = least && weights > limits->m * *least;
  // One distance, seen from either side, whose sizes differ by no more than that: it tells nothing
  // of how much they vary.
  const bool one = least && weights <= *least * (1 + 2 * weights);
  if (one) cuts.unsure = std::max(1.0, limits->m * limits->m * weights / cuts.weights);
  if (roundings || varies) cuts.unsure = limits->m;
  cuts.moments =
      moments ? std::max(limits->m * *moments, cuts.moments) : kMomentTraining;  // not measured
  return cuts;
}

namespace {

/// A weight at rest was rounded once, whatever network it is of: no more than what fp32 leaves of
/// all, and one element that its store turned or an optimizer stepped the other way of the tensor,
/// of a row and of itself.
struct AtRest {
  double rel, row, outlier;

  AtRest(double m0, double eps, const Shape& shape)
      : rel(m0 * std::max(eps / std::sqrt(extent_of(element_count(shape))), epsilon(DType::f32))),
        row(std::max(m0 * eps, kSpike) / std::sqrt(extent_of(shape.empty() ? 1 : shape.back()))),
        outlier(std::max(2 * eps, kSpike)) {}

 private:
  static double extent_of(std::int64_t count) {
    return static_cast<double>(std::max<std::int64_t>(count, 1));
  }
};

bool is_at_rest(const Tensor& tensor) {
  return tensor.trace == nullptr && tensor.identity.phase == Phase::none;
}

}  // namespace

Limit measured_limit(const LimitsFile& limits, const LimitEntry& entry, const Tensor& reference,
                     DType coarsest) {
  const double eps = std::max(entry.eps.value_or(0), epsilon(coarsest));
  const bool rest = is_at_rest(reference);
  const AtRest turned(limits.m0, eps, reference.shape);
  const double floor = rest ? turned.rel : limits.m0 * eps * kind_factor(reference);
  Limit limit;
  limit.kind = LimitKind::measured;
  limit.measured = entry.d;
  const double allowed = limits.m * entry.d;
  limit.rel = std::max(allowed, floor);
  limit.row = std::max(kRowFactor * limit.rel, limits.m * entry.row);
  limit.outlier = std::max(kOutlierFactor * limit.rel, limits.m * entry.outlier);
  if (rest) {
    limit.row = std::max(limit.row, turned.row);
    limit.outlier = std::max(limit.outlier, turned.outlier);
  }
  limit.source =
      allowed >= floor
          ? fmt::format("{}: {:g} x measured {:.3g}", limits.file, limits.m, entry.d)
          : fmt::format("{}: {:.3g} eps{}, above {:g} x measured {:.3g}", limits.file, floor / eps,
                        rest ? ", as of one element" : "", limits.m, entry.d);
  limit.group = fmt::format("{}: {:g} x measured, at least {:g} eps{}", limits.file, limits.m,
                            limits.m0, rest ? " of one element" : "");
  return limit;
}

}  // namespace ttcheck::limits
