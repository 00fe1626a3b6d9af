// SPDX-License-Identifier: Apache-2.0
#include "core/limits/state_limits.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "tests/support/stored_states.hpp"

namespace ttcheck::limits {
namespace {

using tests::kBf16;
using tests::kF32;
using tests::States;

TEST_CASE("one damaged tensor does not move the distance, and is held to its siblings") {
  States apart = States(kF32).layers("w", 8e-3);
  apart.all()[3].moved.distance = 0.1;
  CHECK(apart.kind() == RelationKind::trained_apart);
  CHECK(apart.limit(3).odd == doctest::Approx(0.08));
  CHECK(apart.limit(3).rel == doctest::Approx(1e-5));
  States rounding = States(kF32).layers("w", 1e-6);
  rounding.all()[3].moved.distance = 0.1;
  CHECK(rounding.kind() == RelationKind::same_training);
  CHECK(rounding.limit(3).rel == doctest::Approx(1e-4));
}

TEST_CASE("what a copy lost is damage, and what rounding spreads over a tensor is not") {
  States copy = States(kF32).layers("w", 0);
  copy.one("head", 2e-5, 1).outlier = 0.08;
  CHECK(copy.kind() == RelationKind::copies);
  CHECK(copy.limit(10).kind == LimitKind::copy);
  States frozen = States(kF32).layers("w", 0);
  frozen.one("head", 1e-7, 240);
  CHECK(frozen.kind() == RelationKind::same_training);
  frozen.all().back().moved.parts = 1;  // all in one place
  CHECK(frozen.kind() == RelationKind::copies);
}

TEST_CASE("values that are turned by one unit: several are rounding, one alone is open") {
  States states = States(kBf16).layers("w", 0);
  Stored& flip = states.one("head", 1e-6, 1);
  flip.units = 1, flip.outlier = kBf16;
  CHECK(states.kind() == RelationKind::undecided);
  CHECK(states.limit(10).rel == 0);
  states.all().push_back(flip);
  CHECK(states.kind() == RelationKind::same_training);
}

TEST_CASE("two tensors tell nothing of what is usual") {
  States states(kF32);
  states.one("up", 0.04);
  states.one("down", 0.002);
  CHECK(states.kind() == RelationKind::trained_apart);
  CHECK(std::isinf(states.limit(0).odd));
}

TEST_CASE("what a map made between copies has the model's limit") {
  States states = States(kF32).layers("w", 0);
  states.one("norm", 1e-7, 1).mapped = true;
  CHECK(states.kind() == RelationKind::copies);
  CHECK(!state_limits(states.all(), states.relation()).back());
}

TEST_CASE("biases of all layers that are apart where the weights agree are open") {
  States states = States(kF32).layers("w", 1e-7).layers("k.bias", 0.5);
  CHECK(states.kind() == RelationKind::same_training);
  CHECK(states.limit(10).open);
  CHECK(!states.limit(0).open);
}

TEST_CASE(
    "few elements of a bias that went the other way, as those of other tensors did, are open") {
  const auto limit = [](double apart, double rms, bool one_bit) {
    States states = States(kF32).layers("w", 1e-7).layers("b.bias", 0);
    for (int n = 0; n < 2; ++n) states.one(fmt::format("w{}", n), 1e-7).most_apart = 6e-4;
    Stored& turned = states.one("up.bias", 1e-2);
    turned.most_apart = apart;
    turned.rms_apart = rms;
    turned.one_bit = one_bit;
    return states.limit(22);
  };
  CHECK(limit(6e-4, 6e-5, false).open);
  CHECK(limit(6e-4, 6e-5, false).outlier > 1);
  CHECK(!limit(7e-4, 6e-5, false).open);  // further than any other element
  CHECK(!limit(6e-4, 5e-4, false).open);  // all of it, as of an older state
  CHECK(!limit(6e-4, 6e-5, true).open);   // a flipped bit
}

TEST_CASE("a bias that is within its limit is noise though a few of its elements are far") {
  States states = States(kF32).layers("w", 1e-7);
  for (int n = 0; n < 2; ++n) states.one(fmt::format("w{}", n), 1e-7).most_apart = 6e-4;
  Stored& bias = states.one("up.bias", 5e-5);
  bias.most_apart = 6e-4;
  bias.rms_apart = 6e-5;
  bias.largest = 0.1;
  CHECK(!states.limit(12).open);
  bias.largest = 0.2;
  CHECK(states.limit(12).open);
  bias.one_bit = true;
  CHECK(!states.limit(12).open);
  bias.sign = true;  // from zero, the other way
  CHECK(states.limit(12).open);
}

TEST_CASE("a tensor is open where another layer's is a tenth as far or more") {
  const auto open = [](double other, const char* name = "up.bias") {
    States states = States(kF32).layers("w", 1e-7).layers(name, 1e-6);
    states.all()[10].moved.distance = 5e-4;
    states.all()[11].moved.distance = other;
    return states.limit(10).open;
  };
  CHECK(open(6e-5));
  CHECK(open(6e-5, "up"));
  CHECK(!open(6e-5, "up@exp_avg"));
  CHECK(!open(4e-5));
}

TEST_CASE("a bias without siblings is held to all biases, which began at zero") {
  States apart = States(kF32).layers("w", 2e-3).layers("k.bias", 0.5).layers("q.bias", 2e-3);
  apart.layers("v.bias", 2e-3);
  apart.one("norm.bias", 0.6);
  CHECK(apart.kind() == RelationKind::trained_apart);
  CHECK(apart.limit(40).odd == doctest::Approx(5));
  States rounding = States(kF32).layers("w", 1e-7).layers("v", 1e-7).layers("k.bias", 0.5);
  rounding.one("norm.bias", 0.6);
  CHECK(rounding.limit(30).open);
}

TEST_CASE("what several siblings moved by is no damage where nothing is decided") {
  States states = States(kF32).layers("w", 1e-4).layers("running_mean", 0.1);
  CHECK(states.kind() == RelationKind::undecided);
  CHECK(states.limit(10).odd == doctest::Approx(1));
  States one = States(kF32).layers("w", 2e-3).layers("v", 1e-4).layers("u", 1e-4);
  one.all()[0].moved.distance = 0.019;
  CHECK(one.kind() == RelationKind::undecided);
  CHECK(one.limit(0).odd == doctest::Approx(1e-2));
}

TEST_CASE("biases that repeats showed chance to move are held to what was measured of them") {
  const BiasesApart biases = {{"layers.#.k.bias", 0.4}};
  Cuts cuts{.weights = 1e-5, .moments = 0.1, .times = 5, .measured = true};
  States states = States(kF32).layers("w", 1e-6).layers("q.bias", 1e-6).layers("k.bias", 0.5);
  const auto bias = [&] {
    return *state_limits(states.all(), relate(states.all(), cuts), cuts)[20];
  };
  CHECK(bias().open);
  cuts.biases = &biases;
  CHECK(!bias().open);
  CHECK(bias().rel == doctest::Approx(2));
  states = States(kF32).layers("w", 0).layers("q.bias", 0).layers("k.bias", 0.5);
  CHECK(relate(states.all(), cuts).kind == RelationKind::copies);  // by the others, all equal
  CHECK(bias().rel == doctest::Approx(2));
  cuts.biases = nullptr;
  CHECK(bias().rel == 0);
}

TEST_CASE("where an ancestor tells, a tensor is held to its way") {
  States states = States(kF32).layers("w", 2e-4);
  for (Stored& one : states.all()) one.way = {.apart = 4e-4, .gone = 0.5};
  CHECK(states.limit(0).rel == doctest::Approx(10 * kWayRounding * 0.5));
  States apart = States(kF32).layers("w", 1e-6);
  for (Stored& one : apart.all()) one.way = {.apart = 0.5, .gone = 2e-6};
  CHECK(apart.limit(0).rel < 1e-6);
}

}  // namespace
}  // namespace ttcheck::limits
