#include "core/diff/know_others.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "core/diff/judge_pairs.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/named_tensor.hpp"

namespace ttcheck::diff {
namespace {

using tests::ArraySource;

/// Weights of so many values, of which the candidate's are the same or one rounding off.
class Weights {
 public:
  Weights() = default;
  Weights(const Weights&) = delete;

  void add(std::size_t count, bool same) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i + 1);
    sources_.push_back(ArraySource::of(values));
    if (!same) values[1] = std::nextafter(values[1], 9.0F);
    sources_.push_back(ArraySource::of(values));
    const Shape shape = {static_cast<std::int64_t>(count)};
    const std::size_t at = sources_.size() - 2;
    const std::string name = "w." + std::to_string(at);
    for (const std::size_t i : {at, at + 1}) {
      tensors_.push_back(tests::named(name, tests::tensor_of(sources_[i], DType::f32, shape)));
    }
    work.pairs.push_back({&tensors_[at], &tensors_[at + 1]});
    work.places.push_back(at);
    work.rules.push_back(&rule_);
  }

  /// From the pair on, none can be read.
  void break_from(std::size_t pair) {
    for (std::size_t i = 2 * pair; i < sources_.size(); ++i) {
      sources_[i].broken_from = 0;
      sources_[i].broken_to = sources_[i].size();
    }
  }

  Work work;

 private:
  std::string rule_ = "same";
  std::deque<ArraySource> sources_;
  std::deque<Tensor> tensors_;
};

/// What one pair is that is a rounding off, beside others.
Outcome judged(Work& some, const Work& others) {
  const Run run;
  DiffContext context{run, run, {}};
  Verdict verdict;
  judge_all(some, false, {}, context, verdict, others);
  CHECK(verdict.findings.empty());
  REQUIRE(verdict.tensors.size() == 1);
  return verdict.tensors[0].outcome();
}

TEST_CASE("a pair beside others that are the same is held to nothing at all") {
  for (const bool same : {true, false}) {
    Weights some, others;
    some.add(4, false);
    for (std::size_t n = 0; n < 5; ++n) others.add(4 + n, same);
    CHECK(judged(some.work, others.work) == (same ? Outcome::diverged : Outcome::noise));
  }
}

TEST_CASE("others are read until it is known, the smallest first") {
  for (const bool same : {true, false}) {
    Weights some, others;
    some.add(4, false);
    for (std::size_t n = 0; n < 64; ++n) others.add(4 + n, same);
    others.break_from(36);  // behind half of them, and a part
    CHECK(judged(some.work, others.work) == (same ? Outcome::diverged : Outcome::noise));
  }
}

TEST_CASE("nothing is read for a pair that is equal") {
  Weights some, others;
  some.add(4, true);
  others.add(4, true);
  others.break_from(0);
  const Run run;
  DiffContext context{run, run, {}};
  context.how.keep_equal = true;
  Verdict verdict;
  const std::vector<compare::Compared> compared = compare::compare(some.work.pairs, {});
  know_others(some.work, compared, others.work, {}, context, verdict);
  CHECK_FALSE(some.work.context.has_value());
  CHECK(verdict.findings.empty());
}

}  // namespace
}  // namespace ttcheck::diff
