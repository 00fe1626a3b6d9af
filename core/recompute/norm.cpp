// SPDX-License-Identifier: Apache-2.0
// rmsnorm:   y = x / sqrt(mean(x^2) + eps) * w        (Zhang and Sennrich, 2019)
// layernorm: y = (x - mean(x)) / sqrt(var(x) + eps) * w + b        (Ba and others, 2016)
// Of both there are models whose weight is kept as its distance from one, and of rmsnorm some that
// add eps to the root. With c = x - mean (rmsnorm: x), s the factor of x, u = g w:
//
//   dx = s u - [layernorm: s mean(u)] - k c mean(u c),   dw = sum g c s,   db = sum g
//
// where k = s^3, or s^2 / root where eps is outside of it (the derivative of s along the root).

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "core/recompute/ops.hpp"
#include "core/recompute/product.hpp"

namespace ttcheck::recompute {
namespace {

struct Way {
  double eps;
  bool centred;   ///< layernorm
  bool outside;   ///< eps is added to the root
  bool from_one;  ///< the weight is kept less one
};

std::vector<Way> ways_of(const Call& call, bool centred) {
  std::vector<double> epsilons = {1e-5, 1e-6, 1e-12, 1e-8, 0x1p-23, 0};
  if (const auto stated = call.attributes.number("eps")) epsilons = {*stated};
  std::vector<Way> ways;
  for (const double eps : epsilons) {
    ways.push_back({eps, centred, false, false});
    if (call.weight != nullptr) ways.push_back({eps, centred, false, true});
    if (!centred) ways.push_back({eps, centred, true, false});
  }
  return ways;
}

/// One row, less its mean where the op does so, and what the op multiplies it by.
struct Normalized {
  std::vector<double> centred;
  double factor, slope;  ///< s and k of the essay

  Normalized(const Way& way, std::span<const double> x) : centred(x.begin(), x.end()) {
    const auto n = static_cast<double>(x.size());
    if (way.centred) {
      double sum = 0;
      for (const double value : x) sum += value;
      for (double& value : centred) value -= sum / n;
    }
    const double square = dot(centred, centred) / n;
    const double root = std::sqrt(way.outside ? square : square + way.eps);
    factor = 1 / (way.outside ? root + way.eps : root);
    slope = way.outside ? factor * factor / root : factor * factor * factor;
  }
};

/// The norm's parameter as it multiplies; ones where there is none.
std::vector<double> weight_of(const Call& call, const Way& way, std::int64_t width) {
  std::vector<double> weight(static_cast<std::size_t>(width), 1.0);
  if (call.weight == nullptr) return weight;
  call.weight->read(0, weight);
  for (double& value : weight) value += way.from_one ? 1 : 0;
  return weight;
}

bool fits(const Call& call, std::int64_t width) {
  const auto along = [&](const Operand* one) { return one == nullptr || one->count() == width; };
  return width <= kMostHeld && along(call.weight) && along(call.bias);
}

std::span<const double> row(std::span<const double> all, std::size_t n, std::size_t width) {
  return all.subspan(n * width, width);
}

std::vector<double> rows_from(const Operand& operand, std::int64_t begin, std::size_t count) {
  std::vector<double> values(count);
  operand.read(begin, values);
  return values;
}

Formulas forward(const Call& call, const Target& target, bool centred) {
  const Operand* const x = call.argument(0);
  const std::int64_t width = target.width();
  if (x == nullptr || target.slot != 0 || x->shape() != target.shape || !fits(call, width)) {
    return {};
  }
  Formulas formulas;
  for (const Way& way : ways_of(call, centred)) {
    auto formula =
        by_rows(width, 4, [x, way, width, call](std::int64_t begin, std::span<double> out) {
          const auto size = static_cast<std::size_t>(width);
          const std::vector<double> weight = weight_of(call, way, width);
          std::vector<double> bias(size, 0.0);
          if (call.bias != nullptr) call.bias->read(0, bias);
          const std::vector<double> values = rows_from(*x, begin, out.size());
          for (std::size_t n = 0; n < out.size() / size; ++n) {
            const Normalized one(way, row(values, n, size));
            for (std::size_t i = 0; i < size; ++i) {
              out[n * size + i] = one.centred[i] * one.factor * weight[i] + bias[i];
            }
          }
        });
    if (formula) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

void gradient_of_row(const Way& way, std::span<const double> x, std::span<const double> g,
                     std::span<const double> weight, std::span<double> out) {
  const Normalized one(way, x);
  std::vector<double> u(x.size());
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    u[i] = g[i] * weight[i];
    sum += u[i];
  }
  const auto n = static_cast<double>(x.size());
  const double mean = way.centred ? sum / n : 0;
  const double along = dot(u, one.centred) / n * one.slope;
  for (std::size_t i = 0; i < x.size(); ++i) {
    out[i] = one.factor * (u[i] - mean) - along * one.centred[i];
  }
}

Formula gradient_of_parameter(const Operand* x, const Operand& g, const Way& way) {
  Formula formula;
  formula.granule = formula.preferred = g.width();
  formula.cost = formula.length = static_cast<double>(g.rows());
  formula.fill = [x, &g, way](std::int64_t, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    const Matrix all{g, g.rows(), g.width()};
    for_rows(all, 0, all.rows, [&](std::int64_t first, std::span<const double> tile) {
      std::vector<double> values;
      if (x != nullptr) values = rows_from(*x, first * all.columns, tile.size());
      for (std::size_t n = 0; n < tile.size() / out.size(); ++n) {
        const auto from = row(tile, n, out.size());
        if (x == nullptr) {
          add_multiple(1, from, out);
          continue;
        }
        const Normalized one(way, row(values, n, out.size()));
        for (std::size_t i = 0; i < out.size(); ++i) {
          out[i] += from[i] * one.centred[i] * one.factor;
        }
      }
    });
  };
  return formula;
}

Formulas backward(const Call& call, const Target& target, bool centred) {
  const Operand* const g = call.gradient(0);
  const Operand* const x = call.argument(0);
  if (g == nullptr || g->count() == 0 || !fits(call, g->width())) return {};
  const std::int64_t width = g->width();
  if (target.part == Target::Part::bias) {
    if (target.count() != width) return {};
    return {gradient_of_parameter(nullptr, *g, {})};
  }
  if (x == nullptr || x->shape() != g->shape()) return {};
  const bool weight = target.part == Target::Part::weight;
  if (weight ? target.count() != width : target.shape != x->shape() || target.slot != 0) return {};
  Formulas formulas;
  for (const Way& way : ways_of(call, centred)) {
    if (weight) {
      if (!way.from_one) formulas.push_back(gradient_of_parameter(x, *g, way));
      continue;
    }
    auto formula =
        by_rows(width, 8, [x, g, way, width, call](std::int64_t begin, std::span<double> out) {
          const auto size = static_cast<std::size_t>(width);
          const std::vector<double> factors = weight_of(call, way, width);
          const std::vector<double> values = rows_from(*x, begin, out.size());
          const std::vector<double> given = rows_from(*g, begin, out.size());
          for (std::size_t n = 0; n < out.size() / size; ++n) {
            gradient_of_row(way, row(values, n, size), row(given, n, size), factors,
                            out.subspan(n * size, size));
          }
        });
    if (formula) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

}  // namespace

Formulas rmsnorm_forward(const Call& call, const Target& target) {
  return forward(call, target, false);
}

Formulas rmsnorm_backward(const Call& call, const Target& target) {
  return backward(call, target, false);
}

Formulas layernorm_forward(const Call& call, const Target& target) {
  return forward(call, target, true);
}

Formulas layernorm_backward(const Call& call, const Target& target) {
  return backward(call, target, true);
}

}  // namespace ttcheck::recompute
