// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "core/recompute/ops.hpp"

// Functions of one element, with their slopes: activations, roots and powers. A name may mean more
// than one of them, `activation` each; which it is the attributes tell, or the reference.

namespace ttcheck::recompute {
namespace {

struct Curve {
  std::string_view op;
  double (*value)(double x);
  double (*slope)(double x);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double sigmoid_slope(double x) { return sigmoid(x) * (1 - sigmoid(x)); }

double silu(double x) { return x * sigmoid(x); }

double silu_slope(double x) {
  const double s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

double gauss(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double gelu(double x) { return x * gauss(x); }

double gelu_slope(double x) {
  const double density = std::exp(-x * x / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return gauss(x) + x * density;
}

// Hendrycks and Gimpel, "Gaussian error linear units", 2016, section 2.
constexpr double kCubic = 0.044715;
const double kRoot = std::sqrt(2 / std::numbers::pi);

double tanh_gelu(double x) { return 0.5 * x * (1 + std::tanh(kRoot * (x + kCubic * x * x * x))); }

double tanh_gelu_slope(double x) {
  const double t = std::tanh(kRoot * (x + kCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRoot * (1 + 3 * kCubic * x * x);
}

double relu(double x) { return x < 0 ? 0 : x; }
double relu_slope(double x) { return x > 0 ? 1 : 0; }
double tanh(double x) { return std::tanh(x); }
double tanh_slope(double x) { return 1 - std::tanh(x) * std::tanh(x); }
double exp(double x) { return std::exp(x); }
double square(double x) { return x * x; }
double square_slope(double x) { return 2 * x; }
double root(double x) { return std::sqrt(x); }
double root_slope(double x) { return 0.5 / std::sqrt(x); }
double reciprocal_root(double x) { return 1 / std::sqrt(x); }
double reciprocal_root_slope(double x) { return -0.5 / (x * std::sqrt(x)); }
double negative(double x) { return -x; }
double negative_slope(double) { return -1; }

constexpr Curve kTanhGelu{"gelu", tanh_gelu, tanh_gelu_slope};
constexpr Curve kCurves[] = {
    {"silu", silu, silu_slope},
    {"gelu", gelu, gelu_slope},
    kTanhGelu,
    {"relu", relu, relu_slope},
    {"sigmoid", sigmoid, sigmoid_slope},
    {"tanh", tanh, tanh_slope},
    {"exp", exp, exp},
    {"square", square, square_slope},
    {"sqrt", root, root_slope},
    {"rsqrt", reciprocal_root, reciprocal_root_slope},
    {"neg", negative, negative_slope},
};

std::vector<Curve> curves_of(const Call& call) {
  std::vector<Curve> ways;
  const bool any = call.op == "activation";
  std::ranges::copy_if(kCurves, std::back_inserter(ways),
                       [&](const Curve& curve) { return any || curve.op == call.op; });
  if (any) return ways;
  const auto approximate = call.attributes.word("approximate");
  const auto tanh_stated = call.attributes.flag("approximate");
  if (ways.size() < 2) return ways;
  if (approximate == "tanh" || tanh_stated == true) return {kTanhGelu};
  if (approximate == "none" || tanh_stated == false) ways.resize(1);
  return ways;
}

}  // namespace

Formulas curve_forward(const Call& call, const Target& target) {
  const Operand* const x = call.argument(0);
  if (x == nullptr || target.slot != 0 || x->shape() != target.shape) return {};
  Formulas ways;
  for (const Curve& curve : curves_of(call)) {
    ways.push_back(elementwise(16, [x, curve](std::int64_t begin, std::span<double> out) {
      x->read(begin, out);
      for (double& value : out) value = curve.value(value);
    }));
  }
  return ways;
}

Formulas curve_backward(const Call& call, const Target& target) {
  const Operand* const x = call.argument(0);
  const Operand* const g = call.gradient(0);
  const bool fits = x != nullptr && g != nullptr && x->shape() == target.shape &&
                    g->shape() == target.shape && target.part == Target::Part::argument;
  if (!fits) return {};
  Formulas ways;
  for (const Curve& curve : curves_of(call)) {
    ways.push_back(elementwise(16, [x, g, curve](std::int64_t begin, std::span<double> out) {
      g->read(begin, out);
      std::vector<double> at(out.size());
      x->read(begin, at);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= curve.slope(at[i]);
    }));
  }
  return ways;
}

}  // namespace ttcheck::recompute
