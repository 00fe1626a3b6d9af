// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/product.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "core/base/require.hpp"

// Eigen's products of matrices cut sums by the sizes of the caches that they find, so their last
// bits depend on the machine. Its sums of vectors do not: their lanes are fixed when it is
// compiled. Here each element is one of them along the common dim where that lies contiguous on
// both sides, else a sum of one term after the other. Which rows are held at a time changes no bit.

namespace ttcheck::recompute {
namespace {

constexpr std::int64_t kTile = 1 << 16;  // elements of a stored matrix that are held at a time

using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstVector = Eigen::Map<const Eigen::VectorXd>;

std::span<const double> row_of(std::span<const double> values, std::int64_t row,
                               std::int64_t columns) {
  return values.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

std::span<double> row_of(std::span<double> values, std::int64_t row, std::int64_t columns) {
  return values.subspan(static_cast<std::size_t>(row * columns), static_cast<std::size_t>(columns));
}

}  // namespace

double dot(std::span<const double> a, std::span<const double> b) {
  require(a.size() == b.size(), "equal sizes");
  const auto size = static_cast<Eigen::Index>(a.size());
  return ConstVector(a.data(), size).dot(ConstVector(b.data(), size));
}

void add_multiple(double factor, std::span<const double> a, std::span<double> out) {
  const auto size = static_cast<Eigen::Index>(a.size());
  Vector(out.data(), size) += factor * ConstVector(a.data(), size);
}

void for_rows(const Matrix& m, std::int64_t begin, std::int64_t end,
              const std::function<void(std::int64_t, std::span<const double>)>& visit) {
  const std::int64_t step = std::max<std::int64_t>(1, kTile / m.columns);
  const std::span<const double> held = m.values.held();
  std::vector<double> tile;
  for (std::int64_t row = begin; row < end; row += step) {
    const std::int64_t rows = std::min(step, end - row);
    const auto size = static_cast<std::size_t>(rows * m.columns);
    if (!held.empty()) {
      visit(row, held.subspan(static_cast<std::size_t>(row * m.columns), size));
      continue;
    }
    tile.resize(size);
    m.values.read(row * m.columns, tile);
    visit(row, tile);
  }
}

void times_rows_of(const Matrix& m, std::span<const double> left, std::span<double> out) {
  const std::int64_t n = m.rows == 0 ? 0 : static_cast<std::int64_t>(out.size()) / m.rows;
  for_rows(m, 0, m.rows, [&](std::int64_t first, std::span<const double> tile) {
    const std::int64_t rows = static_cast<std::int64_t>(tile.size()) / m.columns;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::span<double> to = row_of(out, i, m.rows);
      for (std::int64_t r = 0; r < rows; ++r) {
        to[static_cast<std::size_t>(first + r)] =
            dot(row_of(left, i, m.columns), row_of(tile, r, m.columns));
      }
    }
  });
}

void times(const Matrix& m, std::span<const double> left, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  const std::int64_t n = static_cast<std::int64_t>(out.size()) / m.columns;
  for_rows(m, 0, m.rows, [&](std::int64_t first, std::span<const double> tile) {
    const std::int64_t rows = static_cast<std::int64_t>(tile.size()) / m.columns;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::span<const double> factors = row_of(left, i, m.rows);
      for (std::int64_t r = 0; r < rows; ++r) {
        add_multiple(factors[static_cast<std::size_t>(first + r)], row_of(tile, r, m.columns),
                     row_of(out, i, m.columns));
      }
    }
  });
}

void outer(const Matrix& a, std::int64_t first, std::int64_t count, const Matrix& b,
           std::span<double> out) {
  require(a.rows == b.rows, "rows in common");
  std::ranges::fill(out, 0.0);
  std::vector<double> others(static_cast<std::size_t>(b.columns));
  for_rows(a, 0, a.rows, [&](std::int64_t row, std::span<const double> tile) {
    const std::int64_t rows = static_cast<std::int64_t>(tile.size()) / a.columns;
    for (std::int64_t t = 0; t < rows; ++t) {
      b.values.read((row + t) * b.columns, others);
      const std::span<const double> factors = row_of(tile, t, a.columns);
      for (std::int64_t i = 0; i < count; ++i) {
        add_multiple(factors[static_cast<std::size_t>(first + i)], others,
                     row_of(out, i, b.columns));
      }
    }
  });
}

}  // namespace ttcheck::recompute
