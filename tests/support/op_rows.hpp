// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables of ops: what went into one call, and what each way in which it may be meant makes of it.

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/attributes.hpp"
#include "core/recompute/ops.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::tests {

struct Given {
  Shape shape;
  std::vector<double> values;
  DType dtype = DType::f64;
};

/// One call, what is wanted of it, and the values of each way, commonest first; none: the call
/// cannot be recomputed.
struct OpRow {
  const char* what = "";
  std::string_view op = {};
  OpPart part = OpPart::output;
  std::size_t slot = 0;
  Shape shape = {};  ///< of what is wanted
  std::vector<std::optional<Given>> arguments = {};
  std::optional<Given> weight = {}, bias = {};
  std::vector<std::optional<Given>> gradients = {};
  Attributes::Items attributes = {};
  std::vector<std::vector<double>> ways = {};
  std::vector<double> lengths = {1};  ///< additions behind one element, of each way or of all
};

/// The call of a row, with all that it points to.
class HeldCall {
 public:
  explicit HeldCall(const OpRow& row) : items_(row.attributes) {
    call.op = row.op;
    call.attributes = Attributes(items_);
    for (const auto& one : row.arguments) call.arguments.push_back(hold(one));
    for (const auto& one : row.gradients) call.gradients.push_back(hold(one));
    call.weight = hold(row.weight);
    call.bias = hold(row.bias);
  }

  recompute::Call call;

 private:
  const recompute::Operand* hold(const std::optional<Given>& given) {
    if (!given) return nullptr;
    const Source& source = sources_.emplace_back(stored_values(given->dtype, given->values));
    tensors_.push_back(tensor_of(source, given->dtype, given->shape));
    return &operands_.emplace_back(tensors_.back());
  }

  Attributes::Items items_;
  std::deque<ArraySource> sources_;
  std::deque<Tensor> tensors_;
  std::deque<recompute::Operand> operands_;
};

/// All of `count` elements. They are the same, to the bit, granule by granule.
inline std::vector<double> made(const recompute::Formula& formula, std::int64_t count) {
  const double unset = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> all(static_cast<std::size_t>(count), unset), pieces(all);
  REQUIRE(formula.granule >= 1);
  REQUIRE(count % formula.granule == 0);
  CHECK(formula.preferred % formula.granule == 0);
  CHECK(formula.cost > 0);
  formula.fill(0, all);
  const auto size = static_cast<std::size_t>(formula.granule);
  for (std::size_t at = 0; at < pieces.size(); at += size) {
    formula.fill(static_cast<std::int64_t>(at), std::span(pieces).subspan(at, size));
  }
  CHECK(std::ranges::equal(all, pieces));
  return all;
}

inline void check_row(const OpRow& row) {
  INFO(std::string(row.op), ": ", std::string(row.what));
  const HeldCall held(row);
  const recompute::Op* const op = recompute::find_op(row.op);
  REQUIRE(op != nullptr);
  const recompute::Target target{row.part, row.slot, row.shape};
  const bool forward = row.part == OpPart::output;
  const recompute::Formulas found =
      forward ? op->forward(held.call, target) : op->backward(held.call, target);
  REQUIRE(found.size() == row.ways.size());
  for (std::size_t way = 0; way < found.size(); ++way) {
    CAPTURE(way);
    CHECK(found[way].length == row.lengths[row.lengths.size() > 1 ? way : 0]);
    const std::vector<double> values = made(found[way], target.count());
    REQUIRE(values.size() == row.ways[way].size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      CAPTURE(i);
      CHECK(values[i] == doctest::Approx(row.ways[way][i]).epsilon(1e-12));
    }
  }
}

inline void check_rows(const std::vector<OpRow>& rows) {
  for (const OpRow& row : rows) check_row(row);
}

}  // namespace ttcheck::tests
