// SPDX-License-Identifier: Apache-2.0
#include "core/limits/relation.hpp"

#include <doctest/doctest.h>

#include "tests/support/stored_states.hpp"

namespace ttcheck::limits {
namespace {

using tests::kBf16;
using tests::kF32;
using tests::States;

TEST_CASE("by how far the weights are apart") {
  struct Row {
    double distance;
    RelationKind kind;
  };
  for (const auto& [distance, kind] :
       {Row{1e-6, RelationKind::same_training}, Row{1e-4, RelationKind::undecided},
        Row{1e-2, RelationKind::trained_apart}}) {
    CAPTURE(distance);
    CHECK(States(kF32).layers("w", distance).kind() == kind);
  }
  CHECK(States(kF32).layers("w", 0).kind() == RelationKind::copies);
}

TEST_CASE("moments tell what weights leave open") {
  const auto with = [](double weights, double moments) {
    return States(kF32).layers("w", weights).layers("w@exp_avg", moments).kind();
  };
  CHECK(with(1e-4, 1e-6) == RelationKind::trained_apart);  // the same gradients, another update
  CHECK(with(1e-4, 3e-3) == RelationKind::undecided);
  CHECK(with(1e-6, 1e-6) == RelationKind::same_training);
  CHECK(with(1e-6, 0.5) == RelationKind::trained_apart);
}

TEST_CASE("so many updates, each as far astray as moments show, are one training") {
  const auto with = [](double rms_apart, const Updates& updates, double moments = 1e-4) {
    States states = States(kF32).layers("w", 1e-4).layers("w@exp_avg", moments);
    for (Stored& one : states.all()) one.rms_apart = rms_apart;
    return relate(states.all(), {}, {}, updates).kind;
  };
  CHECK(with(4e-6, {1e-3, 50}) == RelationKind::same_training);  // 0.004 of the rate, of 0.005
  CHECK(with(6e-6, {1e-3, 50}) == RelationKind::trained_apart);
  CHECK(with(4e-6, {1e-3, 20}) == RelationKind::trained_apart);
  CHECK(with(4e-6, {1e-3, 50}, 1e-5) == RelationKind::trained_apart);
  CHECK(with(4e-6, {1e-3, 50}, 1e-3) == RelationKind::undecided);
  CHECK(with(4e-6, {0, 50}) == RelationKind::trained_apart);  // the rate is not known
  CHECK(with(4e-6, {1e-3, 0}) == RelationKind::trained_apart);
  States narrow = States(kBf16).layers("w", 1e-4).layers("w@exp_avg", 1e-4);
  for (Stored& one : narrow.all()) one.rms_apart = 4e-6;
  CHECK(relate(narrow.all(), {}, {}, {1e-3, 50}).updates < 0);
}

TEST_CASE("few values of many tensors, by little: products of 16 bits may have turned them") {
  States states = States(kBf16).layers("w", 0).layers("v", 1e-5, 9);
  for (Stored& one : states.all()) one.outlier = one.equal ? 0 : 0.04;
  CHECK(states.kind() == RelationKind::undecided);
}

TEST_CASE("an ancestor tells what the states leave open") {
  const auto kind = [](double distance, const WaySince& way) {
    States states = States(kF32).layers("w", distance);
    for (Stored& one : states.all()) one.way = way;
    return states.kind();
  };
  CHECK(kind(2e-4, {.apart = 4e-4, .gone = 0.5}) == RelationKind::same_training);
  CHECK(kind(2e-3, {.apart = 1e-2, .gone = 0.2}) == RelationKind::undecided);
  CHECK(kind(2e-4, {.apart = 1e-2, .gone = 0.02}) == RelationKind::undecided);
  CHECK(kind(1e-6, {.apart = 0.5, .gone = 2e-6}) == RelationKind::trained_apart);
  CHECK(kind(2e-4, {.apart = 1e-2, .gone = 0.02, .further = 0.6}) == RelationKind::trained_apart);
  CHECK(kind(2e-4, {.apart = 1e-2, .gone = 0.02, .along = -0.9}) == RelationKind::trained_apart);
}

TEST_CASE("of an ancestor's way few elements tell no direction, and f32 no shorter one") {
  States few = States(kF32, 96).layers("b", 2e-4);
  for (Stored& one : few.all()) one.way = {.apart = 1e-2, .gone = 0.02, .further = 0.6};
  CHECK(few.kind() == RelationKind::undecided);
  States still = States(kF32).layers("w", 5e-8);
  for (Stored& one : still.all()) one.way = {.apart = 0.25, .gone = 2e-7};
  CHECK(still.kind() == RelationKind::same_training);
}

TEST_CASE("an ancestor's evidence is said, with its name") {
  States states = States(kF32).layers("w", 2e-4);
  for (Stored& one : states.all()) one.way = {.apart = 1e-2, .gone = 0.02, .further = 0.6};
  const Relation relation = relate(states.all(), {}, "start");
  CHECK(relation.base == "start");
  CHECK(
      relation.evidence ==
      "weights that differ are apart by 0.02 % of their values; since start they came 2 % and are "
      "apart by 1 % of that: the candidate came further");
}

TEST_CASE("without an ancestor a value of a copy that is off is damage") {
  const auto kind = [](bool one_bit, double outlier) {
    States states = States(kF32).layers("w", 0);
    Stored& one = states.one("head", 1e-6, 1);
    one.outlier = outlier;
    one.one_bit = one_bit;
    return states.kind();
  };
  CHECK(kind(false, 1e-3) == RelationKind::copies);
  CHECK(kind(true, 1e-3) == RelationKind::copies);
  CHECK(kind(false, 0.5) == RelationKind::copies);
}

TEST_CASE("a value in each of two tensors that is off by little may be training's") {
  const auto off_in = [](int tensors, bool one_bit) {
    States states = States(kF32).layers("w", 0);
    for (int n = 0; n < tensors; ++n) {
      Stored& one = states.one(n == 0 ? "head" : "embed", 1e-6, 1);
      one.outlier = 1e-3;
      one.one_bit = one_bit;
    }
    return states;
  };
  CHECK(off_in(2, false).kind() == RelationKind::undecided);
  CHECK(off_in(2, false).relation().lone);
  CHECK(off_in(2, true).kind() == RelationKind::copies);
  const Cuts varied{.weights = 1e-5, .seen = 1e-6, .measured = true};
  const Cuts equal{.weights = 1e-5, .measured = true};
  CHECK(relate(off_in(1, false).all(), varied).kind == RelationKind::same_training);
  CHECK(relate(off_in(1, true).all(), varied).kind == RelationKind::copies);
  CHECK(relate(off_in(1, false).all(), equal).kind == RelationKind::copies);
}

TEST_CASE("an ancestor tells of copies what steps by signs make of them") {
  const auto kind = [](double largest, double apart) {
    States states = States(kF32).layers("w", 0);
    for (int n = 0; n < 2; ++n) {
      Stored& one = states.one(n == 0 ? "head" : "embed", 1e-5, 12);
      one.outlier = 0.05;
      one.largest = largest;
      one.way = {.apart = apart, .gone = 0.02, .longest = 0.03};
    }
    return states.kind();
  };
  CHECK(kind(0.06, 5e-4) == RelationKind::same_training);
  CHECK(kind(0.06, 1e-2) == RelationKind::undecided);
  CHECK(kind(0.07, 5e-4) == RelationKind::copies);  // further than any step
  CHECK(kind(0.06, 0.5) == RelationKind::copies);
}

TEST_CASE("biases that chance moved tell nothing of the relation") {
  States copies = States(kF32).layers("w", 0).layers("q.bias", 0).layers("k.bias", 0.5);
  CHECK(copies.kind() == RelationKind::copies);  // nothing was trained: it is damage
  States few = States(kF32).layers("q.bias", 0).layers("k.bias", 0.5);
  few.one("w", 1e-7);
  CHECK(few.kind() == RelationKind::same_training);
  for (Stored& one : copies.all()) one.chance = one.bias && !one.equal;
  CHECK(!copies.limit(25).open);
  CHECK(copies.limit(25).rel == 0);  // whatever its moments show: no chance without training
  for (Stored& one : few.all()) one.chance = one.bias && !one.equal;
  CHECK(!few.limit(13).open);
  CHECK(few.limit(13).rel == 10);
}

TEST_CASE("of correct runs that vary, what is little beyond them is open") {
  const auto relation = [](double weights, double moments) {
    const Cuts cuts{.weights = 5e-3, .moments = 0.1, .seen = 1e-3, .unsure = 5, .measured = true};
    States states = States(kF32).layers("w", weights).layers("w@exp_avg", moments);
    return relate(states.all(), cuts);
  };
  CHECK(relation(4e-3, 0.05).kind == RelationKind::same_training);
  CHECK(relation(24e-3, 0.05).kind == RelationKind::undecided);
  CHECK(relation(26e-3, 0.05).kind == RelationKind::trained_apart);
  CHECK(relation(4e-3, 0.2).kind == RelationKind::trained_apart);
  const Cuts alike{.moments = 1e-4, .unsure = 5, .measured = true};
  const auto moments = [&](double apart) {
    return relate(States(kF32).layers("w", 2e-5).layers("w@exp_avg", apart).all(), alike).kind;
  };
  CHECK(moments(0.09) == RelationKind::undecided);
  CHECK(moments(0.11) == RelationKind::trained_apart);
  CHECK(relation(24e-3, 0.05).evidence ==
        "weights that differ are apart by 2.4 % of their values, those of correct runs by up to "
        "0.1 %, perhaps by more, moments by 5 %");
}

TEST_CASE("what was measured of correct runs leaves nothing open") {
  const Cuts cuts{.weights = 5e-3, .moments = 0.1, .times = 5, .seen = 1e-3, .measured = true};
  const auto kind = [&](double weights, double moments) {
    const States states = States(kF32).layers("w", weights).layers("w@exp_avg", moments);
    return relate(States(states).all(), cuts).kind;
  };
  CHECK(kind(4e-3, 0.05) == RelationKind::same_training);
  CHECK(kind(6e-3, 0.05) == RelationKind::trained_apart);
  CHECK(kind(4e-3, 0.2) == RelationKind::trained_apart);
  CHECK(relate(States(kF32).layers("w", 6e-3).all(), cuts).evidence ==
        "weights that differ are apart by 0.6 % of their values, those of correct runs by up to "
        "0.1 %");
}

TEST_CASE("constant tensors alone are no copies, and a NaN leaves the others as they are") {
  States scalar(kF32, 1);
  scalar.one("loss", 0.5, 1).constant = true;
  CHECK(scalar.kind() == RelationKind::trained_apart);
  States equal = States(kF32).layers("w", 0);
  equal.all().front().disagrees = true;
  CHECK(equal.relation().evidence == "all other tensors are equal");
}

}  // namespace
}  // namespace ttcheck::limits
