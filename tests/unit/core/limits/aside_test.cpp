// SPDX-License-Identifier: Apache-2.0
#include "core/limits/aside.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/stored_states.hpp"

namespace ttcheck::limits {
namespace {

using tests::kF32;
using tests::States;

std::ptrdiff_t moved_of(States states) {
  const std::vector<bool> moved = moved_by_chance(states.all());
  return std::ranges::count(moved, true);
}

TEST_CASE("biases of one part that are apart where others are not") {
  CHECK(moved_of(States(kF32).layers("w", 0).layers("q.bias", 0).layers("k.bias", 0.4)) == 0);
  CHECK(moved_of(States(kF32).layers("q.bias", 1e-7).layers("k.bias", 0.4)) == 10);
}

/// The weights are a rounding apart: something was trained.
States trained() { return States(kF32).layers("w", 1e-7); }

TEST_CASE("biases of all parts, or of one layer, are no chance") {
  CHECK(moved_of(trained().layers("q.bias", 0.2).layers("k.bias", 0.4)) == 0);
  CHECK(moved_of(trained().layers("k.bias", 0.4)) == 0);
  CHECK(moved_of(trained().layers("q.bias", 0).layers("k.bias", 0.4)) == 10);  // one part of two
  CHECK(moved_of(trained().layers("q.bias", 0).layers("k.bias", 0.4).layers("v.bias", 0.4)) ==
        0);  // two parts of three
  States one = trained().layers("q.bias", 0).layers("k.bias", 0);
  one.all().back().equal = false;
  one.all().back().moved.distance = 0.4;
  CHECK(moved_of(one) == 0);
}

}  // namespace
}  // namespace ttcheck::limits
