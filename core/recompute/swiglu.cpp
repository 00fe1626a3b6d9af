// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "core/recompute/ops.hpp"

// y = silu(gate) up (Shazeer, "GLU variants improve transformer", 2020). Gate and up come as two
// tensors, or as the halves of one; which is the gate the reference tells.
//   dgate = g up silu'(gate),  dup = g silu(gate)

namespace ttcheck::recompute {
namespace {

/// The places of gate and up: `gate_first` of two tensors or of the halves of one.
struct Halves {
  const Operand* gate;
  const Operand* up;
  bool fused, gate_first;
  std::int64_t width;  ///< of a half

  /// Rows [first, first + gate.size() / width) of both.
  void read(std::int64_t first, std::vector<double>& gates, std::vector<double>& ups) const {
    const auto half = static_cast<std::size_t>(width);
    if (!fused) {
      gate->read(first * width, gates);
      up->read(first * width, ups);
      return;
    }
    std::vector<double> both(gates.size() * 2);
    gate->read(first * width * 2, both);
    for (std::size_t i = 0; i < gates.size(); ++i) {
      const std::size_t at = i / half * 2 * half + i % half;
      gates[i] = both[gate_first ? at : at + half];
      ups[i] = both[gate_first ? at + half : at];
    }
  }
};

/// The ways in which the arguments may be gate and up of outputs of that width and count.
std::vector<Halves> ways_of(const Call& call, std::int64_t count, std::int64_t width) {
  const Operand* const one = call.argument(0);
  const Operand* const other = call.argument(1);
  if (one == nullptr || width > kMostHeld / 2) return {};
  if (other == nullptr) {
    if (call.arguments.size() != 1 || one->width() != 2 * width || one->count() != 2 * count) {
      return {};
    }
    return {{one, one, true, true, width}, {one, one, true, false, width}};
  }
  if (one->count() != count || other->count() != count || one->width() != width ||
      other->width() != width) {
    return {};
  }
  return {{one, other, false, true, width}, {other, one, false, false, width}};
}

double silu_of(double x) { return x / (1 + std::exp(-x)); }

double slope_of_silu(double x) {
  const double s = 1 / (1 + std::exp(-x));
  return s * (1 + x * (1 - s));
}

/// Rows of the gradient of a fused argument: each half is written to its place.
void fused_gradient(const Halves& way, const Operand& g, std::int64_t begin,
                    std::span<double> out) {
  const auto half = static_cast<std::size_t>(way.width);
  std::vector<double> gates(out.size() / 2), ups(out.size() / 2), given(out.size() / 2);
  way.read(begin / (2 * way.width), gates, ups);
  g.read(begin / 2, given);
  for (std::size_t i = 0; i < given.size(); ++i) {
    const std::size_t at = i / half * 2 * half + i % half;
    out[way.gate_first ? at : at + half] = given[i] * ups[i] * slope_of_silu(gates[i]);
    out[way.gate_first ? at + half : at] = given[i] * silu_of(gates[i]);
  }
}

void single_gradient(const Halves& way, const Operand& g, bool of_gate, std::int64_t begin,
                     std::span<double> out) {
  std::vector<double> gates(out.size()), ups(out.size());
  way.read(begin / way.width, gates, ups);
  g.read(begin, out);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] *= of_gate ? ups[i] * slope_of_silu(gates[i]) : silu_of(gates[i]);
  }
}

}  // namespace

Formulas swiglu_forward(const Call& call, const Target& target) {
  if (target.slot != 0) return {};
  Formulas formulas;
  for (const Halves& way : ways_of(call, target.count(), target.width())) {
    auto formula = by_rows(way.width, 16, [way](std::int64_t begin, std::span<double> out) {
      std::vector<double> gates(out.size()), ups(out.size());
      way.read(begin / way.width, gates, ups);
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = silu_of(gates[i]) * ups[i];
    });
    if (formula) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

Formulas swiglu_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const Operand* const wanted = call.argument(target.slot);
  const bool fits = g != nullptr && wanted != nullptr && wanted->shape() == target.shape &&
                    target.part == Target::Part::argument;
  if (!fits) return {};
  Formulas formulas;
  for (const Halves& way : ways_of(call, g->count(), g->width())) {
    const bool of_gate = (target.slot == 0) == way.gate_first;
    const std::int64_t row = way.fused ? 2 * way.width : way.width;
    auto formula = by_rows(row, 32, [way, g, of_gate](std::int64_t begin, std::span<double> out) {
      if (way.fused) return fused_gradient(way, *g, begin, out);
      single_gradient(way, *g, of_gate, begin, out);
    });
    if (formula) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

}  // namespace ttcheck::recompute
