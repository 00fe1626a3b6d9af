// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/stated_step.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

std::string words(const std::vector<StatedStep>& stated) {
  std::string text;
  for (const StatedStep& one : stated) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.by, one.step);
  }
  return text;
}

Fact fact(std::string name, std::int64_t value) {
  return {std::move(name), value, FactUse::compared, {}};
}

TEST_CASE("the best evidence comes first, and what is said in two ways is not") {
  State state;
  CHECK(steps_stated("run/weights", true, {}, state).empty());
  state.facts = {fact("scheduler.last_epoch", 3), fact("trainer.global_step", 20),
                 fact("model.layers", 2), fact("trainer.log_history.0.step", 5),
                 fact("rng.step", 0)};
  CHECK(words(steps_stated("run/weights", true, {}, state)) == "global_step 20, last_epoch 3");
  CHECK(words(steps_stated("run/checkpoint-20/", true, {}, state)) ==
        "its name 20, global_step 20, last_epoch 3");
  const std::vector<Fact> run = step_facts({{fact("args.iteration", 7), fact("heads", 4)}});
  CHECK(run.size() == 1);
  CHECK(words(steps_stated("x", true, run, state)) == "global_step 20, iteration 7, last_epoch 3");
  state.facts.push_back(fact("other.global_step", 21));
  CHECK(words(steps_stated("x", true, {}, state)) == "last_epoch 3");
}

TEST_CASE("a checkpoint opened by itself says its step; one of a series has its number too") {
  const tests::TempDir directory;
  directory.write("checkpoint-20/model.safetensors", tests::small_safetensors());
  directory.write("model_7.safetensors", tests::small_safetensors());
  Result<Run> alone = open(directory.path("checkpoint-20"));
  REQUIRE(alone.has_value());
  const State state = alone->open(0);
  CHECK_FALSE(state.step);
  CHECK(words(state.stated) == "its name 20");
  Result<Run> file = open(directory.path("model_7.safetensors"));
  REQUIRE(file.has_value());
  const State formed = file->open(0);
  CHECK(formed.stated.empty());
  REQUIRE(formed.in_series);
  CHECK(formed.in_series->by == "model_#.safetensors");
  CHECK(formed.in_series->step == 7);
}

}  // namespace
}  // namespace ttcheck::formats
