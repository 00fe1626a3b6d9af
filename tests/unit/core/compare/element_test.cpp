// SPDX-License-Identifier: Apache-2.0
#include "core/compare/element.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("both values at any place, also behind whole steps of eight") {
  std::vector<float> a(21);
  std::vector<std::int32_t> b(21);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = 0.5F * static_cast<float>(i);
    b[i] = -static_cast<std::int32_t>(i);
  }
  const ArraySource source_a = ArraySource::of(a), source_b = ArraySource::of(b);
  const Tensor reference = tensor_of(source_a, DType::f32, {3, 7});
  const Tensor candidate = tensor_of(source_b, DType::i32, {3, 7});
  const Pair pair{&reference, &candidate};
  for (const std::int64_t index : {0, 7, 8, 20}) {
    const auto values = values_at(pair, index);
    REQUIRE(values);
    CHECK(values->front() == 0.5 * static_cast<double>(index));
    CHECK(values->back() == -static_cast<double>(index));
  }
}

TEST_CASE("of complex numbers nothing; what cannot be read throws") {
  std::vector<std::complex<float>> a(4);
  ArraySource source = ArraySource::of(a);
  const Tensor complex = tensor_of(source, DType::c64, {4});
  CHECK(!values_at({&complex, &complex}, 1));
  const Tensor real = tensor_of(source, DType::f32, {8});
  source.broken_from = 0;
  source.broken_to = 64;
  CHECK_THROWS_AS(values_at({&real, &real}, 1), Error);
}

}  // namespace
}  // namespace ttcheck::compare
