// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two stored states as limits/relation is told of them.

#include <fmt/format.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "core/limits/relation.hpp"
#include "core/limits/state_limits.hpp"

namespace ttcheck::tests {

inline constexpr double kF32 = 0x1p-23, kBf16 = 0x1p-7;

/// Weights of ten layers.
class States {
 public:
  explicit States(double eps, std::int64_t count = 4'096) : eps_(eps), count_(count) {}

  States& layers(const std::string& what, double distance, std::int64_t unequal = 4'096) {
    for (int n = 0; n < 10; ++n) one(fmt::format("layers.{}.{}", n, what), distance, unequal);
    return *this;
  }

  limits::Stored& one(const std::string& name, double distance, std::int64_t unequal = 4'096) {
    limits::Stored& stored = all_.emplace_back();
    stored.name = names_->emplace_back(name);
    if (name.ends_with("exp_avg")) stored.kind = Kind::moment1;
    stored.bias = name.ends_with("bias");
    stored.count = count_;
    stored.eps = eps_;
    stored.equal = distance == 0;
    stored.unequal = stored.equal ? 0 : unequal;
    stored.moved = {distance, 2 * distance, 5 * distance, 16};
    stored.units = 1 / eps_;  // as where a value was zero
    stored.outlier = 5 * distance;
    return stored;
  }

  Relation relation() const { return limits::relate(all_); }
  RelationKind kind() const { return relation().kind; }
  Limit limit(std::size_t i) const { return *limits::state_limits(all_, relation())[i]; }
  std::vector<limits::Stored>& all() { return all_; }

 private:
  double eps_;
  std::int64_t count_;
  std::shared_ptr<std::deque<std::string>> names_ =
      std::make_shared<std::deque<std::string>>();  ///< a copy's views are of the same
  std::vector<limits::Stored> all_;
};

}  // namespace ttcheck::tests
