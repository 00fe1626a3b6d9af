// SPDX-License-Identifier: Apache-2.0
#include "core/compare/pooled.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <random>
#include <vector>

#include "tests/support/array_source.hpp"

namespace ttcheck::compare {
namespace {

using tests::ArraySource;
using tests::tensor_of;
using Floats = std::vector<float>;

constexpr int kPlanes = 6, kHeight = 9, kWidth = 8;

struct Geometry {
  int size, step, padding, height, width;  ///< the last two of what comes out
};

/// A side: values, what torch's max_pool2d makes of them, and the gradients of both.
struct Pooled {
  Floats values, maxima, above, gradient;

  Pooled(const Floats& of, const Floats& slopes, const Geometry& g) : values(of), above(slopes) {
    gradient.assign(values.size(), 0);
    for (int plane = 0; plane < kPlanes; ++plane) {
      for (int row = 0; row < g.height; ++row) {
        for (int column = 0; column < g.width; ++column) pool(plane, row, column, g);
      }
    }
  }

  void pool(int plane, int row, int column, const Geometry& g) {
    std::size_t winner = values.size();
    for (int y = row * g.step - g.padding; y < row * g.step - g.padding + g.size; ++y) {
      for (int x = column * g.step - g.padding; x < column * g.step - g.padding + g.size; ++x) {
        if (y < 0 || x < 0 || y >= kHeight || x >= kWidth) continue;
        const auto at = static_cast<std::size_t>((plane * kHeight + y) * kWidth + x);
        if (winner == values.size() || values[at] > values[winner]) winner = at;
      }
    }
    gradient[winner] += above[maxima.size()];
    maxima.push_back(values[winner]);
  }
};

std::optional<Gated> look(const Pooled& a, const Pooled& b, const Geometry& g) {
  std::vector<ArraySource> sources;
  for (const Pooled* side : {&a, &b}) {
    for (const Floats* one : {&side->values, &side->maxima, &side->above, &side->gradient}) {
      sources.push_back(ArraySource::of(*one));
    }
  }
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const bool whole = i % 4 == 0 || i % 4 == 3;
    tensors.push_back(
        tensor_of(sources[i], DType::f32,
                  whole ? Shape{2, 3, kHeight, kWidth} : Shape{2, 3, g.height, g.width}));
  }
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < 4; ++i) pairs.push_back({&tensors[i], &tensors[4 + i]});
  return pooled({pairs[0], pairs[1], pairs[2], pairs[3]});
}

Floats drawn(std::size_t count, unsigned seed, bool open = false) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = open ? std::max(normal(random), 0.0F) : normal(random);
  return values;
}

/// Torch's defaults of a ResNet, of a VGG, of an Inception with ceil_mode.
const std::vector<Geometry> kGeometries = {{3, 2, 1, 5, 4}, {2, 2, 0, 4, 4}, {3, 2, 0, 4, 4},
                                           {2, 2, 0, 5, 4}, {3, 1, 1, 9, 8}, {5, 3, 2, 3, 3}};

TEST_CASE("a place that wins a window on one side alone has all of its gradient there") {
  for (const Geometry& g : kGeometries) {
    CAPTURE(g.size);
    CAPTURE(g.step);
    const auto windows = static_cast<std::size_t>(kPlanes * g.height * g.width);
    Floats values = drawn(kPlanes * kHeight * kWidth, 1, true);
    const Floats slopes = drawn(windows, 2);
    // Two values of the window at row 1, column 1: the largest of all, and one next to it.
    const auto at =
        static_cast<std::size_t>((g.step - g.padding + 1) * kWidth + g.step - g.padding);
    values[at] = 9;
    values[at + 1] = 9 - 1e-6F;
    Floats other = values;
    std::swap(other[at], other[at + 1]);
    const Pooled a(values, slopes, g), b(other, slopes, g);
    const auto found = look(a, b, g);
    REQUIRE(found);
    double apart = 0, all = 0, largest = 0;
    for (std::size_t i = 0; i < a.gradient.size(); ++i) {
      const double d = static_cast<double>(b.gradient[i]) - static_cast<double>(a.gradient[i]);
      apart += d * d;
      all += static_cast<double>(a.gradient[i]) * static_cast<double>(a.gradient[i]);
      largest = std::max(largest, std::fabs(d));
    }
    CHECK(found->turned == 2);
    CHECK(apart > 0);
    CHECK(found->rel == doctest::Approx(std::sqrt(apart / all)));
    CHECK(found->outlier ==
          doctest::Approx(largest / std::sqrt(all / static_cast<double>(a.gradient.size()))));
    const auto none = look(a, a, g);
    REQUIRE(none);
    CHECK(none->turned == 0);
  }
}

TEST_CASE("what no pooling makes is not taken for one") {
  const Geometry g = kGeometries.front();
  const auto windows = static_cast<std::size_t>(kPlanes * g.height * g.width);
  const Pooled a(drawn(kPlanes * kHeight * kWidth, 3), drawn(windows, 4), g);
  struct Row {
    const char* what;
    std::function<void(Pooled&)> wrong;
  };
  for (const auto& [what, wrong] : std::vector<Row>{
           {"one of the maxima is another value", [](Pooled& b) { b.maxima[7] += 1e-3F; }},
           {"a gradient is twice as large",
            [](Pooled& b) {
              *std::ranges::find_if(b.gradient, [](float x) { return x != 0; }) *= 2;
            }},
           {"a gradient is where no window was won",
            [](Pooled& b) { *std::ranges::find(b.gradient, 0.0F) = 1e-3F; }},
           {"one went to the place next to it",
            [](Pooled& b) {
              const auto one = std::ranges::find_if(b.gradient, [](float x) { return x != 0; });
              std::iter_swap(one, one + 1);
            }},
           {"NaN", [](Pooled& b) { b.values[0] = NAN; }},
           {"the last gradient is lost", [](Pooled& b) {
              const auto last = std::find_if(b.gradient.rbegin(), b.gradient.rend(),
                                             [](float x) { return x != 0; });
              *last = 0;
            }}}) {
    Pooled b = a;
    wrong(b);
    CAPTURE(what);
    CHECK_FALSE(look(a, b, g));
    CHECK_FALSE(look(b, a, g));
  }
}

TEST_CASE("a gradient beside another shape has no pooling") {
  const Geometry g{2, 2, 0, 4, 4};
  const Pooled a(drawn(kPlanes * kHeight * kWidth, 5), drawn(kPlanes * 16, 6), g);
  Geometry smaller = g;
  smaller.height = 2;
  Pooled b = a;
  b.maxima.resize(kPlanes * 8);
  b.above.resize(kPlanes * 8);
  CHECK_FALSE(look(b, b, smaller));
}

}  // namespace
}  // namespace ttcheck::compare
