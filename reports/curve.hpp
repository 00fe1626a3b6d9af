// SPDX-License-Identifier: Apache-2.0
#pragma once
// Error against limit over a sequence of records, drawn with characters.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

struct Curve {
  std::vector<std::string> lines;      ///< top to bottom, with the names of the heights
  std::size_t margin = 0;              ///< columns before the first mark
  std::vector<std::size_t> column_of;  ///< of each result, counted from the margin
  std::size_t per_column = 1;          ///< the most results that share a column
};

/// The results in the order given, from left to right; where they are more than there are columns,
/// a column shows the worst of its own. Heights are decades of error / limit or parts of them, with
/// one row at the limit; `#` is beyond it, `*` within, `.` equal, `x` not comparable, `!` beyond it
/// without a number. `width` counts the columns of the terminal. No results: no lines.
Curve curve_of(std::span<const TensorResult* const> results, int width);

}  // namespace ttcheck::reports
