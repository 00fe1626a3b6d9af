// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors as shades, drawn with characters.

#include <span>
#include <string>
#include <vector>

namespace ttcheck::reports {

/// Shades of a row of sizes, against the largest of all that are drawn: in ASCII each of nine is
/// half of the next (". : - = + * # % @"), in UTF-8 each of four a quarter; blank is 0, `!`
/// infinite.
class Heat {
 public:
  /// `largest`: of the finite sizes.
  Heat(double largest, bool unicode) : largest_(largest), unicode_(unicode) {}

  std::string shade(double size) const;

  /// One shade a column, the largest size of those that share it; at most `columns`.
  std::string strip(std::span<const double> sizes, std::size_t columns) const;

  /// What the shades mean.
  std::string legend() const;

 private:
  double largest_;
  bool unicode_;
};

/// A bar of up to `columns` characters; at least one for what is not 0.
std::string bar(double size, double largest, std::size_t columns, bool unicode);

}  // namespace ttcheck::reports
