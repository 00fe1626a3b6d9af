// SPDX-License-Identifier: Apache-2.0
// What the rows of ops say of rounding, from what the ops are.

#include "core/recompute/ops.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace ttcheck::recompute {
namespace {

/// How an element of the output comes about.
enum class Made : std::uint8_t {
  picked,       ///< it is one of the elements that went in
  one_product,  ///< of numbers that went in, or a root, a power of one: a relative error of eps
  own_curve,    ///< by a curve of one number that is right to its own size
  sums,         ///< terms of either sign are added up: what is left may be small beside them
};

TEST_CASE("an op's elements are right to their own size unless it adds what may cancel") {
  struct Row {
    std::string_view op;
    Made made;
    double roundings;  ///< one for what is stored, one more where a step of it is stored before
  };
  using enum Made;
  for (const Row& row : {
           Row{"linear", sums, 1},
           Row{"matmul", sums, 1},
           Row{"embedding", picked, 1},
           Row{"split", picked, 1},
           Row{"rmsnorm", one_product, 2},  // x / rms, then times the weight
           Row{"layernorm", sums, 2},       // x - mean
           Row{"add", sums, 1},
           Row{"sub", sums, 1},
           Row{"mul", one_product, 1},
           Row{"div", one_product, 1},
           Row{"pow", sums, 2},  // as exp(y log x), in which log x may cancel
           Row{"square", one_product, 1},
           Row{"sqrt", one_product, 1},
           Row{"rsqrt", one_product, 1},
           Row{"neg", one_product, 1},
           Row{"relu", picked, 1},
           Row{"exp", own_curve, 1},
           Row{"sigmoid", own_curve, 1},
           Row{"silu", own_curve, 1},
           Row{"gelu", sums, 2},  // 1 + erf, 1 + tanh cancel on the left
           Row{"activation", sums, 2},
           Row{"tanh", sums, 2},  // (e^x - e^-x) / (e^x + e^-x)
           Row{"swiglu", own_curve, 2},
           Row{"softmax", sums, 2},        // x - max
           Row{"cross_entropy", sums, 2},  // log of the sum - x
           Row{"rope", sums, 2},
           Row{"addcmul", sums, 2},
           Row{"addcdiv", sums, 2},
           Row{"lerp", sums, 2},
           Row{"attention", sums, 4},  // scores, softmax, what is dropped, the sum
       }) {
    CAPTURE(std::string(row.op));
    const Op* const op = find_op(row.op);
    REQUIRE(op != nullptr);
    CHECK(op->name == row.op);
    CHECK(op->by_size == (row.made != sums));
    CHECK(op->roundings == row.roundings);
    CHECK((op->forward != nullptr));
    CHECK((op->backward != nullptr));
  }
  for (const char* const none : {"", "linea", "linear2", "Linear"}) CHECK(find_op(none) == nullptr);
}

}  // namespace
}  // namespace ttcheck::recompute
