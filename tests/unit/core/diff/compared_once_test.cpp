// SPDX-License-Identifier: Apache-2.0
#include "core/diff/compared_once.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

#include "tests/support/array_source.hpp"

namespace ttcheck::diff {
namespace {

using tests::ArraySource;

/// Two pairs at the places 4 and 7 of a step, whose candidates can change behind the work's back.
class Files {
 public:
  Files() {
    for (std::size_t i = 0; i < 2; ++i) {
      work.pairs.push_back({&reference_, &candidates_[i]});
      work.places.push_back(4 + 3 * i);
      work.rules.push_back(&rule_);
    }
  }
  Files(const Files&) = delete;

  void set(std::size_t pair, float first) {
    std::memcpy(sources_[pair].bytes().data(), &first, sizeof(first));
  }

  Work work;

 private:
  std::string rule_ = "same";
  ArraySource source_ = ArraySource::of(std::vector<float>{1, 2, 3});
  std::array<ArraySource, 2> sources_{source_, source_};
  Tensor reference_ = tests::tensor_of(source_, DType::f32, {3});
  std::array<Tensor, 2> candidates_{tests::tensor_of(sources_[0], DType::f32, {3}),
                                    tests::tensor_of(sources_[1], DType::f32, {3})};
};

std::vector<std::int64_t> unequal(ComparedOnce& once, const Work& work, std::size_t step = 0) {
  std::vector<std::int64_t> counts;
  for (const compare::Compared& one : once.compare(work, {step, step, {}}, {}, false)) {
    CHECK(one.plain());
    counts.push_back(one.metrics.unequal_values);
  }
  return counts;
}

using Counts = std::vector<std::int64_t>;

TEST_CASE("a pair of a step is read once") {
  Files files;
  ComparedOnce once;
  files.set(0, 9);
  CHECK(unequal(once, files.work) == Counts{1, 0});
  files.set(0, 1);
  files.set(1, 9);
  CHECK(unequal(once, files.work) == Counts{1, 0});
  CHECK(unequal(once, some_of(files.work, {1, 0})) == Counts{0, 1});  // by place, not by order
  CHECK(unequal(once, files.work, 1) == Counts{0, 1});                // of another step
}

TEST_CASE("a pair that may be compared in another way is read each time") {
  Files files;
  files.work.alternatives.push_back({1, files.work.pairs[0], false});
  ComparedOnce once;
  CHECK(unequal(once, files.work) == Counts{0, 0});
  files.set(0, 9);
  files.set(1, 9);
  CHECK(unequal(once, files.work) == Counts{0, 1});
  const auto looks = once.second_looks(files.work, {});
  CHECK(looks[0] != nullptr);
  CHECK(looks[1] == nullptr);
}

TEST_CASE("what could not be read is asked for again") {
  Files files;
  ComparedOnce once;
  Tensor broken = *files.work.pairs[0].candidate;
  ArraySource source = ArraySource::of(std::vector<float>{1, 2, 3});
  source.broken_from = 0;
  source.broken_to = 12;
  broken.pieces[0].source = &source;
  files.work.pairs[0].candidate = &broken;
  CHECK(once.compare(files.work, {}, {}, false)[0].error != nullptr);
  CHECK(once.second_looks(files.work, {})[0] == nullptr);
  source.broken_to = 0;
  CHECK(unequal(once, files.work) == Counts{0, 0});
}

TEST_CASE("what a second look found stays with the pair") {
  Files files;
  ComparedOnce once;
  unequal(once, files.work);
  once.second_looks(files.work, {})[1]->free_of_sentinel = 0.5;
  CHECK(once.second_looks(some_of(files.work, {1}), {})[0]->free_of_sentinel == 0.5);
  CHECK(once.second_looks(files.work, {})[0]->free_of_sentinel < 0);
}

}  // namespace
}  // namespace ttcheck::diff
