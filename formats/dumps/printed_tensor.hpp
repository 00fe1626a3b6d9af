// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tensor as torch prints it: nested brackets of numbers with a few digits, `...` for what is left
// out of long dimensions (torch/_tensor_str.py).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/piece.hpp"

namespace ttcheck::formats {

/// How many items of one dimension were printed.
struct PrintedDim {
  std::int64_t before = 0, after = 0;  ///< of the dots; without them all are `before`
  bool dots = false;

  bool operator==(const PrintedDim&) const = default;
};

struct PrintedTensor {
  std::vector<PrintedDim> dims;   ///< outermost first; none: a single number
  std::vector<std::byte> values;  ///< the printed elements in the dtype, in their order
  std::int64_t count = 0;
  /// Spacing of the printed numbers over their size, 1e-4 for four digits behind the point; 0 where
  /// the text gives the values exactly.
  double grain = 0;
};

/// Reads `tensor([[1.0000e+00, ...` up to its closing bracket; what stands before and after (class,
/// device, grad_fn) is passed over. Throws Error that says what was expected.
PrintedTensor parse_printed(std::string_view text, DType dtype);

/// The number that `tensor(1.5784e-02)` prints; nothing where that is no single number.
std::optional<double> printed_number(std::string_view text);

/// Which parts of an array of some shape the printed elements are.
struct PrintedParts {
  std::vector<Cell> cells;  ///< of a piece; empty: all, row-major
  std::vector<Box> holes;   ///< what the dots stand for
};

/// Throws Error when the text is not of that shape, or when dots stand for all of it.
PrintedParts parts_of(const PrintedTensor& printed, const Shape& shape);

}  // namespace ttcheck::formats
