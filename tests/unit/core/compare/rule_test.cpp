// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rule.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck::compare {
namespace {

TEST_CASE("a pair has the looser defaults of assert_close, and the way that fits its dtypes") {
  struct Row {
    DType a, b;
    double rtol, atol;
    bool wide;
  };
  using enum DType;
  for (const Row& row : std::vector<Row>{{f16, f16, 1e-3, 1e-5, false},
                                         {bf16, bf16, 1.6e-2, 1e-5, false},
                                         {f32, f32, 1.3e-6, 1e-5, false},
                                         {f64, f64, 1e-7, 1e-7, true},
                                         {c32, c32, 1e-3, 1e-5, true},
                                         {c64, c64, 1.3e-6, 1e-5, true},
                                         {c128, c128, 1e-7, 1e-7, true},
                                         {bf16, f16, 1.6e-2, 1e-5, false},
                                         {f16, bf16, 1.6e-2, 1e-5, false},
                                         {f32, f64, 1.3e-6, 1e-5, true},
                                         {f64, f32, 1.3e-6, 1e-5, true},
                                         {f8_e4m3fn, f8_e4m3fn, 0, 0, false},
                                         {f4_e2m1, f6_e2m3, 0, 0, false},
                                         {f8_e5m2, f64, 1e-7, 1e-7, true},
                                         {boolean, boolean, 0, 0, true},
                                         {i16, u16, 0, 0, true},
                                         {i8, f16, 1e-3, 1e-5, false},
                                         {i32, i32, 0, 0, true},
                                         {u64, i8, 0, 0, true},
                                         {i8, u64, 0, 0, true}}) {
    INFO(name(row.a) << " and " << name(row.b));
    const Rule rule = rule_for(row.a, row.b, false);
    CHECK(rule.a == row.a);
    CHECK(rule.b == row.b);
    CHECK(rule.close_rtol == row.rtol);
    CHECK(rule.close_atol == row.atol);
    CHECK(rule.wide == row.wide);
    CHECK_FALSE(rule.rtol);
    CHECK_FALSE(rule.atol);
    CHECK(rule.isa == &kernels());
    CHECK(rule_for(row.a, row.b, true).wide);
  }
}

}  // namespace
}  // namespace ttcheck::compare
