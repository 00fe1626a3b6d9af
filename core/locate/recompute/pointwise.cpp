#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "core/locate/recompute/ops.hpp"

// Element by element: sums, products, and the activations with their slopes. A smaller addend or
// factor is spread over the leading dims (a bias).

namespace ttcheck::locate {
namespace {

struct Curve {
  double (*value)(double x);
  double (*slope)(double x);
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

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

constexpr Curve kSilu{silu, silu_slope};
constexpr Curve kGelu{gelu, gelu_slope};
constexpr Curve kTanhGelu{tanh_gelu, tanh_gelu_slope};

std::vector<double> values(const Operand& operand, std::int64_t begin, std::size_t count) {
  std::vector<double> read(count);
  operand.read(begin, read);
  return read;
}

/// True where `part`, less leading dims of one, is the end of `whole`.
bool spreads(const Shape& part, const Shape& whole) {
  auto first = std::ranges::find_if(part, [](std::int64_t extent) { return extent != 1; });
  const auto size = static_cast<std::size_t>(part.end() - first);
  return size <= whole.size() &&
         std::equal(first, part.end(), whole.end() - static_cast<std::ptrdiff_t>(size));
}

/// Elements of an operand that is spread over the target.
class Spread {
 public:
  Spread(const Operand& operand, std::int64_t begin, std::size_t count, std::int64_t whole)
      : period_(operand.count()), begin_(begin) {
    if (period_ == whole) {
      period_ = 0;
      read_ = values(operand, begin, count);
    } else {
      read_.assign(operand.held().begin(), operand.held().end());
    }
  }

  double operator[](std::size_t i) const {
    if (period_ == 0) return read_[i];
    return read_[static_cast<std::size_t>((begin_ + static_cast<std::int64_t>(i)) % period_)];
  }

 private:
  std::int64_t period_, begin_;
  std::vector<double> read_;
};

/// All arguments (and the bias), if each is there and fits.
std::vector<const Operand*> operands_of(const Call& call, const Target& target) {
  std::vector<const Operand*> all = call.arguments;
  if (call.weight != nullptr) all.push_back(call.weight);
  if (call.bias != nullptr) all.push_back(call.bias);
  const std::int64_t count = target.count();
  const auto fits = [&](const Operand* one) {
    if (one == nullptr || one->count() == 0 || !spreads(one->shape(), target.shape)) return false;
    return one->count() == count || !one->held().empty();
  };
  if (all.size() < 2 || target.slot != 0 || !std::ranges::all_of(all, fits)) return {};
  return all;
}

Formulas fold(const Call& call, const Target& target, bool product) {
  const std::vector<const Operand*> all = operands_of(call, target);
  if (all.empty()) return {};
  const std::int64_t whole = target.count();
  return {elementwise(static_cast<double>(all.size()),
                      [all, whole, product](std::int64_t begin, std::span<double> out) {
                        std::ranges::fill(out, product ? 1.0 : 0.0);
                        for (const Operand* one : all) {
                          const Spread from(*one, begin, out.size(), whole);
                          for (std::size_t i = 0; i < out.size(); ++i) {
                            out[i] = product ? out[i] * from[i] : out[i] + from[i];
                          }
                        }
                      })};
}

Formulas curve_forward(const Call& call, const Target& target, std::span<const Curve> curves) {
  const Operand* const x = call.argument(0);
  if (x == nullptr || target.slot != 0 || x->shape() != target.shape) return {};
  Formulas ways;
  for (const Curve& curve : curves) {
    ways.push_back(elementwise(16, [x, curve](std::int64_t begin, std::span<double> out) {
      x->read(begin, out);
      for (double& value : out) value = curve.value(value);
    }));
  }
  return ways;
}

Formulas curve_backward(const Call& call, const Target& target, std::span<const Curve> curves) {
  const Operand* const x = call.argument(0);
  const Operand* const g = call.gradient(0);
  const bool fits = x != nullptr && g != nullptr && x->shape() == target.shape &&
                    g->shape() == target.shape && target.part == Target::Part::argument;
  if (!fits) return {};
  Formulas ways;
  for (const Curve& curve : curves) {
    ways.push_back(elementwise(16, [x, g, curve](std::int64_t begin, std::span<double> out) {
      g->read(begin, out);
      const std::vector<double> at = values(*x, begin, out.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= curve.slope(at[i]);
    }));
  }
  return ways;
}

std::vector<Curve> gelu_ways(const Call& call) {
  const auto approximate = call.attributes.word("approximate");
  if (approximate == "tanh" || call.attributes.flag("approximate") == true) return {kTanhGelu};
  if (approximate == "none" || call.attributes.flag("approximate") == false) return {kGelu};
  return {kGelu, kTanhGelu};
}

}  // namespace

Formulas add_forward(const Call& call, const Target& target) { return fold(call, target, false); }

Formulas add_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const bool fits = g != nullptr && g->shape() == target.shape &&
                    target.part == Target::Part::argument && target.slot < call.arguments.size();
  if (!fits) return {};
  return {elementwise(1, [g](std::int64_t begin, std::span<double> out) { g->read(begin, out); })};
}

Formulas mul_forward(const Call& call, const Target& target) { return fold(call, target, true); }

Formulas mul_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const bool fits = g != nullptr && g->shape() == target.shape &&
                    target.part == Target::Part::argument && target.slot < call.arguments.size();
  if (!fits) return {};
  Call others = call;
  others.arguments[target.slot] = g;
  return fold(others, {Target::Part::output, 0, target.shape}, true);
}

Formulas silu_forward(const Call& call, const Target& target) {
  return curve_forward(call, target, std::span(&kSilu, 1));
}

Formulas silu_backward(const Call& call, const Target& target) {
  return curve_backward(call, target, std::span(&kSilu, 1));
}

Formulas gelu_forward(const Call& call, const Target& target) {
  return curve_forward(call, target, gelu_ways(call));
}

Formulas gelu_backward(const Call& call, const Target& target) {
  return curve_backward(call, target, gelu_ways(call));
}

}  // namespace ttcheck::locate
