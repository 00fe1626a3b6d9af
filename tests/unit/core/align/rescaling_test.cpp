// SPDX-License-Identifier: Apache-2.0
// By the chain rule: a parameter p' = c p has the gradient g / c, a mean of it the same, and a mean
// of its square v / c^2; p' = p + c has the gradient of p.

#include "core/align/rescaling.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

TEST_CASE("what a map that changes values makes of tensors of a kind") {
  struct Row {
    std::string op;
    Kind kind;
    ValueMap forward, back;
  };
  const ValueMap same;
  const ValueMap times{4, 1, 0}, over{1, 4, 0}, times_square{16, 1, 0}, over_square{1, 16, 0};
  const ValueMap plus{1, 1, 3}, minus{1, 1, -3};
  std::vector<Row> rows;
  for (const Kind kind : {Kind::weight, Kind::master, Kind::input, Kind::output}) {
    rows.push_back({"scale(4)", kind, times, over});
    rows.push_back({"add(3)", kind, plus, minus});
  }
  for (const Kind kind : {Kind::moment1, Kind::momentum, Kind::grad, Kind::main_grad,
                          Kind::grad_input, Kind::grad_output}) {
    rows.push_back({"scale(4)", kind, over, times});
    rows.push_back({"add(3)", kind, same, same});
  }
  rows.push_back({"scale(4)", Kind::moment2, over_square, times_square});
  rows.push_back({"add(3)", Kind::moment2, same, same});
  for (const Kind kind :
       {Kind::step, Kind::loss, Kind::comm_in, Kind::comm_out, Kind::state, Kind::other}) {
    rows.push_back({"scale(4)", kind, same, same});
    rows.push_back({"add(3)", kind, same, same});
  }
  rows.push_back({"scale(four)", Kind::weight, times, over});
  rows.push_back({"scale(-4)", Kind::moment2, over_square, times_square});
  rows.push_back({"add(-3)", Kind::weight, minus, plus});
  for (const Row& row : rows) {
    INFO(row.op, " of ", std::string(name(row.kind)));
    const Rescaling made = rescaling_of(parse_op(row.op), row.kind, {{"four", 4}});
    CHECK(made.forward == row.forward);
    CHECK(made.back == row.back);
  }
}

}  // namespace
}  // namespace ttcheck::align
