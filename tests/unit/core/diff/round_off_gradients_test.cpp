// SPDX-License-Identifier: Apache-2.0
#include "core/diff/round_off_gradients.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

namespace ttcheck::diff {
namespace {

/// Pairs of one tensor with itself, and what was found of them.
struct Found {
  std::deque<Tensor> tensors;
  Work work;
  std::vector<compare::Compared> compared;

  void add(const std::string& name, double a, double b) {
    Tensor& tensor = tensors.emplace_back();
    tensor.identity.name = name;
    tensor.kind = kind_of_name(name);
    work.pairs.push_back({&tensor, &tensor});
    Metrics& metrics = compared.emplace_back().metrics;
    metrics.count = 1;
    metrics.sum_a2 = a * a;
    metrics.sum_b2 = b * b;
  }
};

std::vector<bool> with_moments(double a, double b) {
  Found found;
  found.add("k.bias", 1, 1);
  found.add("k.weight", 1, 1);
  found.add("k.bias@exp_avg", a, b);
  found.add("k.weight@exp_avg", 1e-3, 1e-3);
  return of_round_off_gradients(found.work, found.compared);
}

TEST_CASE("a moment that is nothing beside its weight's, on both sides") {
  CHECK(with_moments(1e-9, 3e-9) == std::vector<bool>{true, false, true, false});
  CHECK(with_moments(1e-9, 1e-4) == std::vector<bool>(4, false));
  CHECK(with_moments(1e-9, 0) == std::vector<bool>(4, false));  // it was lost
}

TEST_CASE("of squares it is the square") {
  Found found;
  found.add("k.bias@square_avg", 1e-18, 1e-17);
  found.add("k.weight@square_avg", 1e-6, 1e-6);
  found.add("q.bias@square_avg", 1e-12, 1e-12);
  found.add("q.weight@square_avg", 1e-6, 1e-6);
  CHECK(of_round_off_gradients(found.work, found.compared) ==
        std::vector<bool>{true, false, false, false});
}

TEST_CASE("a bias whose weight has no moment tells nothing") {
  Found found;
  found.add("norm.bias", 1, 1);
  found.add("norm.bias@exp_avg", 1e-9, 1e-9);
  CHECK(of_round_off_gradients(found.work, found.compared) == std::vector<bool>(2, false));
}

}  // namespace
}  // namespace ttcheck::diff
