// SPDX-License-Identifier: Apache-2.0
#include "core/diff/counted_updates.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

namespace ttcheck::diff {
namespace {

/// Pairs of one tensor with itself, and what was found of them.
struct Found {
  std::deque<Tensor> tensors;
  Work work;
  std::vector<compare::Compared> compared;

  void add(Kind kind, std::int64_t count, double sum_a2, bool whole = true) {
    Tensor& tensor = tensors.emplace_back();
    tensor.kind = kind;
    work.pairs.push_back({&tensor, &tensor});
    compare::Compared& one = compared.emplace_back();
    one.metrics.count = count;
    one.metrics.sum_a2 = sum_a2;
    one.stopped = !whole;
  }

  double updates() const { return counted_updates(work, compared); }
};

TEST_CASE("updates are those of the counter that came furthest") {
  Found found;
  CHECK(found.updates() == 0);
  found.add(Kind::step, 1, 100 * 100);
  found.add(Kind::step, 1, 300 * 300);
  found.add(Kind::step, 1, 200 * 200);
  CHECK(found.updates() == 300);
}

TEST_CASE("a weight is no counter, nor are several numbers, nor what was not read to its end") {
  Found found;
  found.add(Kind::weight, 1, 900);
  found.add(Kind::step, 2, 900);
  found.add(Kind::step, 1, 900, false);
  CHECK(found.updates() == 0);
}

}  // namespace
}  // namespace ttcheck::diff
