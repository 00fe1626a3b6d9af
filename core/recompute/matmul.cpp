// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <vector>

#include "core/recompute/ops.hpp"
#include "core/recompute/product.hpp"

// y = a b of two recorded tensors, matrix by matrix over their leading dims; where b is one matrix,
// a's leading dims are rows. Backward: da = g b^T, db = a^T g.

namespace ttcheck::recompute {
namespace {

/// Matrices one after the other in a tensor; `turned`: each is taken transposed.
struct Matrices {
  const Operand* values;
  std::int64_t batch, stored_rows, stored_columns;
  bool turned;

  std::int64_t rows() const { return turned ? stored_columns : stored_rows; }
  std::int64_t columns() const { return turned ? stored_rows : stored_columns; }
  std::int64_t size() const { return stored_rows * stored_columns; }

  /// One of them, row-major as it is taken.
  std::vector<double> matrix(std::int64_t n) const {
    std::vector<double> stored(static_cast<std::size_t>(size()));
    values->read(n * size(), stored);
    if (!turned) return stored;
    std::vector<double> made(stored.size());
    for (std::int64_t r = 0; r < stored_rows; ++r) {
      for (std::int64_t c = 0; c < stored_columns; ++c) {
        made[static_cast<std::size_t>(c * stored_rows + r)] =
            stored[static_cast<std::size_t>(r * stored_columns + c)];
      }
    }
    return made;
  }

  Matrices transposed() const {
    Matrices made = *this;
    made.turned = !turned;
    return made;
  }
};

/// `flat`: all but the last dim are rows of one matrix.
std::optional<Matrices> matrices_of(const Operand* values, bool flat) {
  if (values == nullptr || values->shape().size() < 2 || values->count() == 0) return std::nullopt;
  const Shape& shape = values->shape();
  Matrices made{values, 1, values->rows(), shape.back(), false};
  if (!flat) {
    made.stored_rows = shape[shape.size() - 2];
    made.batch = values->count() / made.size();
  }
  if (made.size() > kMostHeld) return std::nullopt;
  return made;
}

Formulas product(const Matrices& left, const Matrices& right, const Target& target) {
  const std::int64_t rows = left.rows(), inner = left.columns(), width = right.columns();
  const bool fits = inner == right.rows() && left.batch == right.batch &&
                    target.count() == left.batch * rows * width && target.width() == width;
  if (!fits) return {};
  Formula formula;
  formula.granule = width;
  formula.preferred = width * rows;
  formula.cost = formula.length = static_cast<double>(inner);
  if (formula.preferred > kMostHeld) return {};
  formula.fill = [left, right, rows, inner, width](std::int64_t begin, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    std::vector<double> a, b;
    std::optional<std::int64_t> held;
    for (std::size_t at = 0; at < out.size(); at += static_cast<std::size_t>(width)) {
      const std::int64_t row = (begin + static_cast<std::int64_t>(at)) / width;
      if (row / rows != held) {
        held = row / rows;
        a = left.matrix(*held);
        b = right.matrix(*held);
      }
      const auto to = out.subspan(at, static_cast<std::size_t>(width));
      for (std::int64_t k = 0; k < inner; ++k) {
        const double factor = a[static_cast<std::size_t>(row % rows * inner + k)];
        add_multiple(factor,
                     std::span<const double>(b).subspan(static_cast<std::size_t>(k * width),
                                                        static_cast<std::size_t>(width)),
                     to);
      }
    }
  };
  return {formula};
}

}  // namespace

Formulas matmul_forward(const Call& call, const Target& target) {
  const Operand* const second = call.argument(1);
  const bool flat = second != nullptr && second->shape().size() == 2;
  const auto a = matrices_of(call.argument(0), flat), b = matrices_of(second, false);
  if (!a || !b || target.slot != 0) return {};
  return product(*a, *b, target);
}

Formulas matmul_backward(const Call& call, const Target& target) {
  const Operand* const second = call.argument(1);
  const bool flat = second != nullptr && second->shape().size() == 2;
  const auto a = matrices_of(call.argument(0), flat), b = matrices_of(second, false),
             g = matrices_of(call.gradient(0), flat);
  if (!a || !b || !g || target.part != Target::Part::argument || target.slot > 1) return {};
  return target.slot == 0 ? product(*g, b->transposed(), target)
                          : product(a->transposed(), *g, target);
}

}  // namespace ttcheck::recompute
