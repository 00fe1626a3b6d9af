// SPDX-License-Identifier: Apache-2.0
#pragma once
// Matrix products in a fixed order of sums.

#include <cstdint>
#include <functional>
#include <span>

#include "core/recompute/operand.hpp"

namespace ttcheck::recompute {

/// A stored matrix, row-major, of any number of leading dims taken as one; it has columns.
struct Matrix {
  const Operand& values;
  std::int64_t rows = 0, columns = 0;
};

/// out[n x m.rows] = left[n x m.columns] times m transposed: each row with each row.
void times_rows_of(const Matrix& m, std::span<const double> left, std::span<double> out);

/// out[n x m.columns] = left[n x m.rows] times m.
void times(const Matrix& m, std::span<const double> left, std::span<double> out);

/// out[count x b.columns] = rows [first, first + count) of a transposed times b: sums over the rows
/// that a and b have in common. REQUIRES a.rows == b.rows.
void outer(const Matrix& a, std::int64_t first, std::int64_t count, const Matrix& b,
           std::span<double> out);

/// The sum of a[i] b[i], in an order that the size alone decides. REQUIRES equal sizes.
double dot(std::span<const double> a, std::span<const double> b);

/// out[i] += factor a[i].
void add_multiple(double factor, std::span<const double> a, std::span<double> out);

/// Visits rows [begin, end) in order, a bounded number at a time: visit(first row, their values).
void for_rows(const Matrix& m, std::int64_t begin, std::int64_t end,
              const std::function<void(std::int64_t, std::span<const double>)>& visit);

}  // namespace ttcheck::recompute
