#include "core/limits/relation.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>

namespace ttcheck::limits {
namespace {

constexpr double kF32 = 0x1p-23, kBf16 = 0x1p-7;

/// Weights of ten layers.
class States {
 public:
  explicit States(double eps, std::int64_t count = 4'096) : eps_(eps), count_(count) {}

  States& layers(const std::string& what, double distance, std::int64_t unequal = 4'096) {
    for (int n = 0; n < 10; ++n) one(fmt::format("layers.{}.{}", n, what), distance, unequal);
    return *this;
  }

  Stored& one(const std::string& name, double distance, std::int64_t unequal = 4'096) {
    Stored& stored = all_.emplace_back();
    stored.name = names_->emplace_back(name);
    if (name.ends_with("exp_avg")) stored.kind = Kind::moment1;
    stored.bias = name.ends_with("bias");
    stored.count = count_;
    stored.eps = eps_;
    stored.equal = distance == 0;
    stored.unequal = stored.equal ? 0 : unequal;
    stored.moved = {distance, 2 * distance, 5 * distance, 16};
    stored.max_rel = 1;
    stored.outlier = 5 * distance;
    return stored;
  }

  Relation relation() const { return relate(all_); }
  RelationKind kind() const { return relation().kind; }
  Limit limit(std::size_t i) const { return *state_limits(all_, relation())[i]; }
  std::vector<Stored>& all() { return all_; }

 private:
  double eps_;
  std::int64_t count_;
  std::shared_ptr<std::deque<std::string>> names_ =
      std::make_shared<std::deque<std::string>>();  ///< a copy's views are of the same
  std::vector<Stored> all_;
};

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
  copy.one("head", 2e-5, 1);
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
  flip.max_rel = flip.outlier = kBf16;
  CHECK(states.kind() == RelationKind::undecided);
  CHECK(states.limit(10).rel == 0);
  states.all().push_back(flip);
  CHECK(states.kind() == RelationKind::same_training);
}

TEST_CASE("few values of many tensors, by little: products of 16 bits may have turned them") {
  States states = States(kBf16).layers("w", 0).layers("v", 1e-5, 9);
  for (Stored& one : states.all()) one.outlier = one.equal ? 0 : 0.04;
  CHECK(states.kind() == RelationKind::undecided);
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

}  // namespace
}  // namespace ttcheck::limits
