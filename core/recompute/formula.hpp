// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an op should have put out, as a function of what went in; the vocabulary of the ops' table.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/attributes.hpp"
#include "core/recompute/operand.hpp"

namespace ttcheck::recompute {

/// One call of an op, as it was recorded.
struct Call {
  std::string_view op;
  Attributes attributes;
  std::vector<const Operand*> arguments;  ///< by position; null: not recorded
  const Operand* weight = nullptr;
  const Operand* bias = nullptr;
  std::vector<const Operand*> gradients;  ///< of its outputs, by slot; null: not recorded

  const Operand* argument(std::size_t n) const {
    return n < arguments.size() ? arguments[n] : nullptr;
  }
  const Operand* gradient(std::size_t n) const {
    return n < gradients.size() ? gradients[n] : nullptr;
  }
};

/// What of the call is wanted.
struct Target {
  using Part = OpPart;
  Part part = Part::output;
  std::size_t slot = 0;  ///< which output or argument
  const Shape& shape;

  std::int64_t width() const { return shape.empty() ? 1 : shape.back(); }
  std::int64_t count() const { return element_count(shape); }
};

/// Values of a target, in double, range by range. A value does not depend on the range that it is
/// asked for in, since each is summed in one order; so neither tiles nor threads show.
struct Formula {
  std::int64_t granule = 1;    ///< ranges begin and end at multiples of it
  std::int64_t preferred = 1;  ///< elements that are best made at once, a multiple of granule
  double cost = 1;             ///< multiplications of one element, about
  double length = 1;           ///< additions behind one element, as round-off counts them
  /// Fills `out` with the elements from `begin` on. Safe to call from several threads. Throws Error
  /// where an operand cannot be read.
  std::function<void(std::int64_t begin, std::span<double> out)> fill;
};

/// The ways in which an op of that name may have been meant, commonest first; which it is the
/// reference tells. Empty: this call cannot be recomputed (shapes do not fit, or something that
/// went in is not there). The call's operands must outlive the formulas.
using Formulas = std::vector<Formula>;

/// The largest range that is ever held: larger ones are not recomputed.
inline constexpr std::int64_t kMostHeld = 1 << 24;

/// A formula by ranges of elements that do not depend on each other.
Formula elementwise(double cost, std::function<void(std::int64_t, std::span<double>)> fill);

/// A formula by rows of `width` elements; nothing where a row is too long to be held.
std::optional<Formula> by_rows(std::int64_t width, double cost,
                               std::function<void(std::int64_t, std::span<double>)> fill);

/// Formulas of one target added up, in their order; nothing where their ranges do not fit.
std::optional<Formula> sum_of(std::vector<Formula> parts);

}  // namespace ttcheck::recompute
