// SPDX-License-Identifier: Apache-2.0
#include "core/compare/rms.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("the root mean square over all elements") {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> many(70000, -2);
  many[69999] = 0;
  struct Row {
    DType dtype;
    std::vector<double> values;
    double expected;
  };
  for (const Row& row : std::vector<Row>{{DType::f32, {}, 0},
                                         {DType::f32, {-3}, 3},
                                         {DType::f32, {3, 4}, std::sqrt(12.5)},
                                         {DType::f64, {0, 0, 0, 4}, 2},
                                         {DType::i8, {-128, 127}, std::sqrt(16256.5)},
                                         {DType::boolean, {1, 0, 1, 0}, std::sqrt(0.5)},
                                         {DType::bf16, {2, -2, 2, -2}, 2},
                                         {DType::f32, many, std::sqrt(4.0 * 69999 / 70000)},
                                         {DType::f64, {1e200, 1}, infinity},
                                         {DType::f64, {1e-200}, 0},
                                         {DType::f32, {infinity, 1}, infinity},
                                         {DType::f32, {1, std::nan("")}, std::nan("")}}) {
    const auto count = std::ssize(row.values);
    const ArraySource source{tests::stored_values(row.dtype, row.values)};
    const double found = rms_of(tensor_of(source, row.dtype, {count}));
    INFO(name(row.dtype) << ", " << count << ": " << found);
    CHECK((found == row.expected || (std::isnan(found) && std::isnan(row.expected))));
  }
  const auto one = ArraySource::of(std::vector<float>{-5});
  CHECK(rms_of(tensor_of(one, DType::f32, {})) == 5);
}

TEST_CASE("it stops when it is told to, and says what cannot be read") {
  auto source = ArraySource::of(std::vector<float>(10, 1));
  const Tensor tensor = tensor_of(source, DType::f32, {10});
  CHECK(rms_of(tensor, [] { return false; }) == 1);
  CHECK_THROWS_AS((void)rms_of(tensor, [] { return true; }), Stopped);
  source.broken_from = 8;
  source.broken_to = 9;
  CHECK_THROWS_WITH_AS((void)rms_of(tensor), "memory:0x0: broken sector", Error);
}

}  // namespace
}  // namespace ttcheck::compare
