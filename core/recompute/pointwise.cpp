// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <vector>

#include "core/recompute/ops.hpp"

// Element by element: sums and products of any number of tensors, differences, quotients and powers
// of two. A smaller one is spread over the dims that it does not have, or has once; in place of a
// tensor the call may state a number.

namespace ttcheck::recompute {
namespace {

/// What stands at one place of an op.
struct Term {
  const Operand* tensor = nullptr;
  double number = 0;  ///< without one
};

Shape without_leading_ones(const Shape& shape) {
  return {std::ranges::find_if(shape, [](std::int64_t extent) { return extent != 1; }),
          shape.end()};
}

/// How far an element of `part` moves along each dim of `whole`; nothing where it does not spread.
std::optional<Extents> spread_strides(const Shape& part, const Shape& whole) {
  const Shape own = without_leading_ones(part);
  if (own.size() > whole.size()) return std::nullopt;
  Extents strides(whole.size(), 0);
  std::int64_t step = 1;
  for (std::size_t back = 1; back <= own.size(); ++back) {
    const std::int64_t extent = own[own.size() - back];
    if (extent != 1 && extent != whole[whole.size() - back]) return std::nullopt;
    if (extent != 1) strides[whole.size() - back] = step;
    step *= extent;
  }
  return strides;
}

/// Elements [begin, begin + count) of a term that is spread over `whole`. REQUIRES that it is.
std::vector<double> values_of(const Term& term, const Shape& whole, std::int64_t begin,
                              std::size_t count) {
  std::vector<double> read(count, term.number);
  if (term.tensor == nullptr) return read;
  if (term.tensor->count() == element_count(whole)) {
    term.tensor->read(begin, read);
    return read;
  }
  const Extents strides = *spread_strides(term.tensor->shape(), whole);
  std::vector<std::int64_t> index(whole.size());
  std::int64_t rest = begin, at = 0;
  for (std::size_t d = whole.size(); d-- > 0; rest /= whole[d]) {
    index[d] = rest % whole[d];
    at += index[d] * strides[d];
  }
  for (double& value : read) {
    value = term.tensor->held()[static_cast<std::size_t>(at)];
    for (std::size_t d = whole.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < whole[d]) break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return read;
}

/// All arguments (and a weight, and a bias), if each is there and fits; empty if not.
std::vector<Term> terms_of(const Call& call, const Shape& whole) {
  std::vector<Term> all;
  for (const Operand* argument : call.arguments) all.push_back({argument});
  for (const Operand* one : {call.weight, call.bias}) {
    if (one != nullptr) all.push_back({one});
  }
  std::optional<double> number;
  for (const std::string_view key : {"other", "exponent", "input"}) {
    if (!number) number = call.attributes.number(key);
  }
  if (all.size() == 1 && number) all.push_back({nullptr, *number});
  if (all.size() < 2) return {};
  for (Term& term : all) {
    if (term.tensor == nullptr) {
      if (!number) return {};
      term.number = *number;
      continue;
    }
    const bool read = term.tensor->count() == element_count(whole) || !term.tensor->held().empty();
    if (!read || !spread_strides(term.tensor->shape(), whole)) return {};
  }
  return all;
}

/// A formula of what `make` does to the first term's values with another's, one after the other.
Formulas fold(const std::vector<Term>& all, const Shape& shape,
              const std::function<double(double, double)>& make) {
  if (all.empty()) return {};
  const auto cost = static_cast<double>(all.size());
  return {elementwise(cost, [all, shape, make](std::int64_t begin, std::span<double> out) {
    std::ranges::copy(values_of(all.front(), shape, begin, out.size()), out.begin());
    for (const Term& one : std::span(all).subspan(1)) {
      const std::vector<double> from = values_of(one, shape, begin, out.size());
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = make(out[i], from[i]);
    }
  })};
}

/// An op of two: its value, and its slopes along the first and the second.
struct Pairwise {
  std::string_view op;
  double (*value)(double a, double b);
  std::array<double (*)(double a, double b), 2> slopes;
};

/// All that pairwise_forward and pairwise_backward stand for in the ops' table.
constexpr Pairwise kPairwise[] = {
    {"div",
     [](double a, double b) { return a / b; },
     {[](double, double b) { return 1 / b; }, [](double a, double b) { return -a / (b * b); }}},
    {"pow",
     [](double a, double b) { return std::pow(a, b); },
     {[](double a, double b) { return b * std::pow(a, b - 1); },
      [](double a, double b) { return std::pow(a, b) * std::log(a); }}},
};

/// Torch's `alpha` multiplies the second.
double alpha_of(const Call& call) { return call.attributes.number("alpha").value_or(1); }

const Operand* whole_gradient(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const bool fits = g != nullptr && g->shape() == target.shape &&
                    target.part == Target::Part::argument && target.slot < call.arguments.size();
  return fits ? g : nullptr;
}

Formulas multiple_of(const Operand* g, double factor) {
  if (g == nullptr) return {};
  return {elementwise(1, [g, factor](std::int64_t begin, std::span<double> out) {
    g->read(begin, out);
    for (double& value : out) value *= factor;
  })};
}

}  // namespace

Formulas add_forward(const Call& call, const Target& target) {
  if (target.slot != 0) return {};
  return fold(terms_of(call, target.shape), target.shape,
              [alpha = alpha_of(call)](double a, double b) { return a + alpha * b; });
}

Formulas add_backward(const Call& call, const Target& target) {
  return multiple_of(whole_gradient(call, target), target.slot == 0 ? 1 : alpha_of(call));
}

Formulas sub_forward(const Call& call, const Target& target) {
  if (target.slot != 0) return {};
  return fold(terms_of(call, target.shape), target.shape,
              [alpha = alpha_of(call)](double a, double b) { return a - alpha * b; });
}

Formulas sub_backward(const Call& call, const Target& target) {
  return multiple_of(whole_gradient(call, target), target.slot == 0 ? 1 : -alpha_of(call));
}

Formulas mul_forward(const Call& call, const Target& target) {
  if (target.slot != 0) return {};
  return fold(terms_of(call, target.shape), target.shape, std::multiplies<>());
}

Formulas mul_backward(const Call& call, const Target& target) {
  const Operand* const g = whole_gradient(call, target);
  if (g == nullptr) return {};
  Call others = call;
  others.arguments[target.slot] = g;
  return fold(terms_of(others, target.shape), target.shape, std::multiplies<>());
}

Formulas pairwise_forward(const Call& call, const Target& target) {
  const auto* const row = std::ranges::find(kPairwise, call.op, &Pairwise::op);
  const std::vector<Term> all = terms_of(call, target.shape);
  if (target.slot != 0 || all.size() != 2) return {};
  return fold(all, target.shape, row->value);
}

Formulas pairwise_backward(const Call& call, const Target& target) {
  const auto* const row = std::ranges::find(kPairwise, call.op, &Pairwise::op);
  const std::vector<Term> all = terms_of(call, target.shape);
  const Operand* const g = whole_gradient(call, target);
  if (g == nullptr || all.size() != 2) return {};
  return {elementwise(4, [=, slope = row->slopes[target.slot], shape = target.shape](
                             std::int64_t begin, std::span<double> out) {
    g->read(begin, out);
    const std::vector<double> a = values_of(all[0], shape, begin, out.size());
    const std::vector<double> b = values_of(all[1], shape, begin, out.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= slope(a[i], b[i]);
  })};
}

}  // namespace ttcheck::recompute
