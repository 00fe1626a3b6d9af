// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <vector>

#include "core/recompute/ops.hpp"
#include "core/recompute/product.hpp"

// y = x W^T + b, W stored [out, in] (torch) or [in, out] (GPT-2's Conv1D, JAX): shapes tell, and of
// square weights the reference. Backward: dx = g W, dW = g^T x, db = sum of g over the rows.

namespace ttcheck::recompute {
namespace {

constexpr std::int64_t kHeldRows = 64;           // rows of activations per range
constexpr std::int64_t kHeldProducts = 1 << 18;  // elements of such a range
constexpr std::int64_t kHeldGradient = 1 << 20;  // elements of a weight's gradient per range

struct Shapes {
  std::int64_t rows, in, out;
  bool transposed;  ///< the weight is [in, out]
};

/// The ways in which x [.., in] and y [.., out] may fit the weight.
std::vector<Shapes> fits(const Operand& weight, std::int64_t x_count, std::int64_t in,
                         std::int64_t y_count, std::int64_t out) {
  std::vector<Shapes> found;
  const Shape& w = weight.shape();
  if (w.size() != 2 || in < 1 || out < 1 || std::max(in, out) > kMostHeld) return found;
  if (x_count / in != y_count / out) return found;
  if (w[0] == out && w[1] == in) found.push_back({x_count / in, in, out, false});
  if (w[0] == in && w[1] == out) found.push_back({x_count / in, in, out, true});
  return found;
}

/// Rows of `left` times the weight, or times its transpose.
Formula product(const Operand& left, std::int64_t left_width, const Operand& weight,
                std::int64_t width, bool by_rows_of_weight, const Operand* bias) {
  Formula formula;
  formula.granule = width;
  formula.preferred =
      width * std::clamp<std::int64_t>(kHeldProducts / std::max(left_width, width), 1, kHeldRows);
  formula.cost = formula.length = static_cast<double>(left_width);
  const Matrix m{weight, weight.shape()[0], weight.shape()[1]};
  formula.fill = [&left, m, left_width, width, by_rows_of_weight, bias](std::int64_t begin,
                                                                        std::span<double> out) {
    const std::int64_t rows = static_cast<std::int64_t>(out.size()) / width;
    std::vector<double> factors(static_cast<std::size_t>(rows * left_width));
    left.read(begin / width * left_width, factors);
    if (by_rows_of_weight) {
      times_rows_of(m, factors, out);
    } else {
      times(m, factors, out);
    }
    if (bias == nullptr) return;
    std::vector<double> addend(static_cast<std::size_t>(width));
    bias->read(0, addend);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += addend[i % addend.size()];
  };
  return formula;
}

Formula gradient_of_weight(const Operand& down, const Operand& across, std::int64_t rows) {
  const Matrix a{down, rows, down.width()};
  const Matrix b{across, rows, across.width()};
  Formula formula;
  formula.granule = b.columns;
  formula.preferred = b.columns * std::max<std::int64_t>(1, kHeldGradient / b.columns);
  formula.cost = formula.length = static_cast<double>(rows);
  formula.fill = [a, b](std::int64_t begin, std::span<double> out) {
    outer(a, begin / b.columns, static_cast<std::int64_t>(out.size()) / b.columns, b, out);
  };
  return formula;
}

Formula sum_over_rows(const Operand& g) {
  Formula formula;
  formula.granule = formula.preferred = g.width();
  formula.cost = formula.length = static_cast<double>(g.rows());
  formula.fill = [&g](std::int64_t, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    for_rows({g, g.rows(), g.width()}, 0, g.rows(),
             [&](std::int64_t, std::span<const double> tile) {
               for (std::size_t i = 0; i < tile.size(); ++i) out[i % out.size()] += tile[i];
             });
  };
  return formula;
}

}  // namespace

Formulas linear_forward(const Call& call, const Target& target) {
  const Operand* const x = call.argument(0);
  const Operand* const weight = call.weight != nullptr ? call.weight : call.argument(1);
  if (x == nullptr || weight == nullptr || target.slot != 0) return {};
  if (call.bias != nullptr && call.bias->count() != target.width()) return {};
  Formulas ways;
  for (const Shapes& s : fits(*weight, x->count(), x->width(), target.count(), target.width())) {
    ways.push_back(product(*x, s.in, *weight, s.out, !s.transposed, call.bias));
  }
  return ways;
}

Formulas linear_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  if (g == nullptr) return {};
  if (target.part == Target::Part::bias) {
    if (target.count() != g->width() || g->width() < 1 || g->width() > kMostHeld) return {};
    return {sum_over_rows(*g)};
  }
  Formulas ways;
  if (target.part == Target::Part::weight) {
    const Operand* const x = call.argument(0);
    if (x == nullptr || x->width() < 1 || g->width() < 1) return {};
    const std::int64_t rows = x->rows();
    if (rows != g->rows() || std::max(x->width(), g->width()) > kMostHeld) return {};
    if (target.shape == Shape{g->width(), x->width()}) {
      ways.push_back(gradient_of_weight(*g, *x, rows));
    }
    if (target.shape == Shape{x->width(), g->width()}) {
      ways.push_back(gradient_of_weight(*x, *g, rows));
    }
    return ways;
  }
  if (call.weight == nullptr || target.slot != 0) return {};
  for (const Shapes& s :
       fits(*call.weight, target.count(), target.width(), g->count(), g->width())) {
    ways.push_back(product(*g, s.out, *call.weight, s.in, s.transposed, nullptr));
  }
  return ways;
}

}  // namespace ttcheck::recompute
