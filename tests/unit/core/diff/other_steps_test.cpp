// SPDX-License-Identifier: Apache-2.0
#include "core/diff/other_steps.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck::diff {
namespace {

Run series(std::vector<std::optional<std::int64_t>> steps, std::string form = {}) {
  Run run;
  run.steps = std::move(steps);
  run.step_form = std::move(form);
  return run;
}

Run single(std::vector<StatedStep> stated, std::optional<StatedStep> in_series = {}) {
  Run run;
  run.steps = {std::nullopt};
  run.open = [stated, in_series](std::size_t) {
    State state;
    state.stated = stated;
    state.in_series = in_series;
    return state;
  };
  return run;
}

const std::vector<std::size_t> kAll = {0, 1, 2};

std::optional<StepMet> step_met(const Run& one, const Run& steps,
                                const std::vector<std::size_t>& among) {
  return diff::step_met(steps_said(one, steps), steps, among);
}

TEST_CASE("a checkpoint meets the step that the best evidence names") {
  const Run steps = series({10, 20, 40});
  const auto met = step_met(single({{"its name", 20}, {"last_epoch", 40}}), steps, kAll);
  REQUIRE(met);
  CHECK(met->index == 1);
  CHECK(met->stated.by == "its name");
  const auto next = step_met(single({{"its name", 3}, {"global_step", 40}}), steps, kAll);
  REQUIRE(next);
  CHECK(next->index == 2);
  CHECK_FALSE(step_met(single({{"its name", 30}}), steps, kAll));
  CHECK_FALSE(step_met(single({{"its name", 40}}), steps, std::vector<std::size_t>{0, 1}));
  CHECK_FALSE(step_met(single({}), steps, kAll));
}

TEST_CASE("a number in a name says something in a series of that form alone") {
  const Run one = single({}, StatedStep{"model_#.pt", 20});
  CHECK_FALSE(step_met(one, series({10, 20, 40}), kAll));
  CHECK_FALSE(step_met(one, series({10, 20, 40}, "net_#.pt"), kAll));
  const auto met = step_met(one, series({10, 20, 40}, "model_#.pt"), kAll);
  REQUIRE(met);
  CHECK(met->index == 1);
}

TEST_CASE("one that cannot be opened says nothing") {
  Run broken = single({});
  broken.open = [](std::size_t) -> State { throw Error("torn"); };
  CHECK_FALSE(step_met(broken, series({10, 20, 40}), kAll));
}

TEST_CASE("steps are held against each other by one kind of evidence") {
  const std::vector<StatedStep> a = {{"its name", 30}, {"global_step", 3}};
  const auto told = of_other_steps(a, std::vector<StatedStep>{{"its name", 40}});
  REQUIRE(told);
  CHECK(told->severity == Severity::warning);
  CHECK(told->message ==
        "two states of different steps: the reference is of step 30, the candidate of step 40, as "
        "its name says");
  CHECK_FALSE(of_other_steps(a, std::vector<StatedStep>{{"its name", 30}, {"global_step", 4}}));
  CHECK(of_other_steps(a, std::vector<StatedStep>{{"global_step", 4}}));
  CHECK_FALSE(of_other_steps(a, std::vector<StatedStep>{{"last_epoch", 4}}));
}

}  // namespace
}  // namespace ttcheck::diff
