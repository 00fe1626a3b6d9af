// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "core/recompute/ops.hpp"

// y[t] = W[id of t]; backward: dW[v] = sum of g[t] over the tokens t of id v. Outputs may lie
// sequence first though the ids lie batch first (Megatron).

namespace ttcheck::recompute {
namespace {

/// Which token stands at which row of the output: a `first` of the ids lies innermost there, or 1.
struct Tokens {
  const Operand* ids;
  std::int64_t first;

  std::int64_t at(std::int64_t row) const {
    return row % first * (ids->count() / first) + row / first;
  }
};

std::vector<Tokens> ways_of(const Operand* ids, const Shape& output) {
  if (ids == nullptr || !is_exact(ids->dtype()) || ids->held().empty() || output.empty()) return {};
  const Shape leading(output.begin(), output.end() - 1);
  const Shape& shape = ids->shape();
  std::vector<Tokens> ways;
  if (element_count(leading) == ids->count()) ways.push_back({ids, 1});
  if (shape.size() == 2 && leading == Shape{shape[1], shape[0]}) {
    ways.push_back({ids, shape[0]});
    if (shape[0] != shape[1]) std::ranges::reverse(ways);
  }
  return ways;
}

/// Has the table a row of that number?
bool is_row(double id, std::int64_t rows) { return id >= 0 && id < static_cast<double>(rows); }

}  // namespace

Formulas embedding_forward(const Call& call, const Target& target) {
  const Operand* const table = call.weight;
  const std::int64_t width = target.width();
  if (table == nullptr || table->shape().size() != 2 || table->width() != width ||
      target.slot != 0) {
    return {};
  }
  const double scale = call.attributes.number("scale").value_or(1);
  Formulas formulas;
  for (const Tokens& way : ways_of(call.argument(0), target.shape)) {
    auto formula = by_rows(width, 1, [=](std::int64_t begin, std::span<double> out) {
      const auto size = static_cast<std::size_t>(width);
      for (std::size_t n = 0; n < out.size() / size; ++n) {
        const std::int64_t token = way.at(begin / width + static_cast<std::int64_t>(n));
        const double id = way.ids->held()[static_cast<std::size_t>(token)];
        const std::span<double> to = out.subspan(n * size, size);
        if (!is_row(id, table->rows())) {
          std::ranges::fill(to, 0.0);
          continue;
        }
        table->read(static_cast<std::int64_t>(id) * width, to);
        for (double& value : to) value *= scale;
      }
    });
    if (formula) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

Formulas embedding_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const std::int64_t width = target.width();
  const bool fits = g != nullptr && target.part == Target::Part::weight &&
                    target.shape.size() == 2 && g->width() == width;
  if (!fits) return {};
  const double scale = call.attributes.number("scale").value_or(1);
  const auto unused = call.attributes.number("padding_idx");
  Formulas formulas;
  for (const Tokens& way : ways_of(call.argument(0), g->shape())) {
    auto formula = by_rows(width, 2, [=](std::int64_t begin, std::span<double> out) {
      const auto size = static_cast<std::size_t>(width);
      const std::int64_t first = begin / width;
      const std::int64_t rows = static_cast<std::int64_t>(out.size()) / width;
      std::ranges::fill(out, 0.0);
      std::vector<double> given(size);
      for (std::int64_t t = 0; t < g->rows(); ++t) {
        const double id = way.ids->held()[static_cast<std::size_t>(way.at(t))];
        if (!is_row(id, target.shape[0]) || id == unused) continue;
        const std::int64_t row = static_cast<std::int64_t>(id) - first;
        if (row < 0 || row >= rows) continue;
        g->read(t * width, given);
        for (std::size_t i = 0; i < size; ++i) {
          out[static_cast<std::size_t>(row) * size + i] += scale * given[i];
        }
      }
    });
    if (!formula) continue;
    formula->preferred = width * std::max<std::int64_t>(1, Operand::kHeldIntegers / width);
    formula->length = static_cast<double>(g->rows());
    formulas.push_back(std::move(*formula));
  }
  return formulas;
}

}  // namespace ttcheck::recompute
