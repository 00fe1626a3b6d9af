// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/compare/profile.hpp"
#include "tests/support/array_source.hpp"

// Numbers are held to NumPy's in tests/show; here is what no file can be made to have.

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;

std::vector<AxisChoice> rows_and_columns() { return {{"row", 0, 1}, {"column", 1, 1}}; }

TEST_CASE("holes take no part in a profile") {
  const std::vector<float> a{1, 2, 3, 4, 5, 6};
  std::vector<float> b = a;
  b[4] = 50;
  b[5] = 8;
  const auto left = ArraySource::of(a);
  const auto right = ArraySource::of(b);
  const Tensor reference = tensor_of(left, DType::f32, {2, 3});
  Tensor candidate = tensor_of(right, DType::f32, {2, 3});
  candidate.holes.push_back({{1, 1}, {1, 1}});
  const Profile found = profile({&reference, &candidate}, rows_and_columns(), 1, 10);
  CHECK(found.all.count == 5);
  CHECK(found.all.unequal == 1);
  CHECK(found.all.d2 == 4);
  CHECK(found.axes[1].bins[1].count == 1);
  REQUIRE(found.elements.size() == 1);
  CHECK(found.elements[0].index == 5);
  CHECK(found.histogram.zeros == 4);
  CHECK(found.sides[1].most == 8);
}

TEST_CASE("long axes share bins, and groups of slices stay whole") {
  std::vector<float> a(30000, 1);
  const auto source = ArraySource::of(a);
  const Tensor tensor = tensor_of(source, DType::f32, {30000});
  const std::vector<AxisChoice> axes{{"elements", 0, 1}, {"head", 0, 3}};
  const Profile found = profile({&tensor, nullptr}, axes, 0, 0);
  REQUIRE(found.axes.size() == 2);
  CHECK(found.axes[0].slices_per_bin == 8);
  CHECK(found.axes[0].bins.size() == 3750);
  CHECK(found.axes[1].slices_per_bin == 9);
  CHECK(found.axes[1].bins.back().count == 3);
  CHECK(found.elements.empty());
  CHECK_FALSE(found.blocks);
  CHECK(found.sides[0].deviation() == 0);
}

TEST_CASE("the narrowest run of slices that holds the error is named") {
  std::vector<float> a(64, 1);
  std::vector<float> b = a;
  for (const std::size_t i : {17U, 25U, 33U}) b[i] = 2;
  const auto left = ArraySource::of(a);
  const auto right = ArraySource::of(b);
  const Tensor reference = tensor_of(left, DType::f32, {8, 8});
  const Tensor candidate = tensor_of(right, DType::f32, {8, 8});
  const Profile found = profile({&reference, &candidate}, rows_and_columns(), 1, 10);
  REQUIRE(found.confined);
  CHECK(found.confined->axis == 1);
  CHECK(found.confined->first == 1);
  CHECK(found.confined->last == 1);
  CHECK(found.confined->share == 1);
  CHECK(found.elements.front().index == 17);
  CHECK(bin_error(found.axes[1].bins[1], found) == std::sqrt(3.0 / 8));
}

/// Of a row of these errors.
Profile profile_of_row(const std::vector<double>& errors) {
  const std::int64_t count = std::ssize(errors);
  const auto left = ArraySource::of(std::vector<double>(errors.size(), 0));
  const auto right = ArraySource::of(errors);
  const Tensor reference = tensor_of(left, DType::f64, {1, count});
  const Tensor candidate = tensor_of(right, DType::f64, {1, count});
  return profile({&reference, &candidate}, rows_and_columns(), 1, 0);
}

TEST_CASE("what lies beside the run, and is like it, belongs to it") {
  struct Run {
    const char* what;
    double before, after;  ///< the errors beside 100 columns with an error of 1
    std::int64_t first, last;
  };
  // The run has 99% of the square by itself. What is beside it joins from a quarter of its mean on.
  for (const Run& run : {Run{"nothing beside it", 0, 0, 100, 199},
                         Run{"a little less than half", 0.375, 0.375, 100, 199},
                         Run{"more than half behind", 0.375, 0.625, 100, 200},
                         Run{"more than half ahead", 0.625, 0.375, 99, 199},
                         Run{"more than half on both sides", 0.625, 0.625, 99, 200}}) {
    INFO(std::string(run.what));
    std::vector<double> b(400, 0);
    std::fill(b.begin() + 100, b.begin() + 200, 1.0);
    b[99] = run.before;
    b[200] = run.after;
    const Profile found = profile_of_row(b);
    REQUIRE(found.confined);
    CHECK(found.confined->axis == 1);
    CHECK(found.confined->first == run.first);
    CHECK(found.confined->last == run.last);
    double held = 0, all = 0;
    for (std::int64_t i = 0; i < 400; ++i) {
      const double d2 = b[static_cast<std::size_t>(i)] * b[static_cast<std::size_t>(i)];
      all += d2;
      if (i >= run.first && i <= run.last) held += d2;
    }
    CHECK(found.confined->share == held / all);
  }
}

TEST_CASE("a run is found wherever it lies") {
  using Ends = std::pair<std::int64_t, std::int64_t>;
  for (const auto& [first, last] :
       {Ends{0, 0}, Ends{0, 99}, Ends{1, 1}, Ends{200, 200}, Ends{300, 399}, Ends{399, 399}}) {
    CAPTURE(first);
    CAPTURE(last);
    std::vector<double> b(400, 0);
    std::fill(b.begin() + first, b.begin() + last + 1, 1.0);
    const Profile found = profile_of_row(b);
    REQUIRE(found.confined);
    CHECK(found.confined->axis == 1);
    CHECK(found.confined->first == first);
    CHECK(found.confined->last == last);
    CHECK(found.confined->share == 1);
  }
}

TEST_CASE("an error that is everywhere is not confined, nor is none") {
  std::vector<float> a(64, 1);
  std::vector<float> b(64, 2);
  const auto left = ArraySource::of(a);
  const auto right = ArraySource::of(b);
  const Tensor reference = tensor_of(left, DType::f32, {8, 8});
  const Tensor candidate = tensor_of(right, DType::f32, {8, 8});
  CHECK_FALSE(profile({&reference, &candidate}, rows_and_columns(), 1, 1).confined);
  CHECK_FALSE(profile({&reference, &reference}, rows_and_columns(), 1, 1).confined);
}

TEST_CASE("a scalar and an empty tensor have profiles, too") {
  const std::vector<float> a{3};
  const auto source = ArraySource::of(a);
  const Tensor one = tensor_of(source, DType::f32, {});
  const Profile found = profile({&one, nullptr}, {}, 0, 5);
  CHECK(found.sides[0].most == 3);
  CHECK(found.elements.size() == 1);
  const Tensor none = tensor_of(source, DType::f32, {0, 4});
  CHECK(profile({&none, nullptr}, rows_and_columns(), 0, 5).all.count == 0);
}

}  // namespace
}  // namespace ttcheck::compare
