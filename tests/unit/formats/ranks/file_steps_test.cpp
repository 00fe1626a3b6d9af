// SPDX-License-Identifier: Apache-2.0
#include "formats/ranks/file_steps.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <deque>

#include "formats/hf/trainer_steps.hpp"
#include "tests/support/memory_source.hpp"

namespace ttcheck::formats {
namespace {

struct Counters {
  std::deque<tests::MemorySource> sources;
  State state;

  void add(const std::string& file, std::int32_t rank, std::initializer_list<float> steps) {
    for (const float step : steps) {
      std::vector<std::byte> bytes(sizeof step);
      std::memcpy(bytes.data(), &step, sizeof step);
      sources.emplace_back(std::move(bytes), file);
      Record& record = state.records.emplace_back();
      record.kind = Kind::step;
      record.piece.source = &sources.back();
      record.piece.dtype = DType::f32;
      record.piece.rank = rank;
    }
  }

  std::vector<Finding> check(std::optional<std::int64_t> named = std::nullopt) const {
    return check_file_steps(state, named);
  }
};

Fact stated(std::string name, std::int64_t value, std::string file) {
  return {std::move(name), value, FactUse::compared, {std::move(file), {}, {}}};
}

TEST_CASE("a file all of whose counters lag is of another step") {
  Counters files;
  files.add("run/__0_0.distcp", 0, {20, 20, 20});
  files.add("run/__1_0.distcp", 1, {10, 10});
  files.add("run/__2_0.distcp", 2, {20, 20});
  const auto said = files.check();
  REQUIRE(said.size() == 1);
  CHECK(said[0].code == Code::mixed_step);
  CHECK(said[0].ranks == std::vector<std::int32_t>{1});
  CHECK(said[0].message.find("10 in __1_0.distcp and 20 in __0_0.distcp") != std::string::npos);
}

TEST_CASE("of two files the name or a fact tells which is right, else both are said") {
  Counters files;
  files.add("a", 0, {20, 20});
  files.add("b", 1, {10, 10});
  CHECK(files.check().size() == 2);
  REQUIRE(files.check(20).size() == 1);
  CHECK(files.check(20)[0].ranks == std::vector<std::int32_t>{1});
  CHECK(files.check(30).size() == 2);
  files.state.facts.push_back(stated("extra.step", 10, "b"));
  REQUIRE(files.check().size() == 1);
  CHECK(files.check()[0].ranks == std::vector<std::int32_t>{0});
}

TEST_CASE("parameters that joined later, and single counters, prove nothing") {
  Counters late;
  late.add("a", 0, {20, 20, 5});
  late.add("b", 1, {5, 5});
  CHECK(late.check().empty());
  Counters single;
  single.add("a", 0, {20, 20});
  single.add("b", 1, {10});
  CHECK(single.check().empty());
  Counters alike;
  alike.add("a", 0, {20, 20});
  alike.add("b", 1, {20, 20});
  CHECK(alike.check(7).empty());
}

TEST_CASE("a counter that is no number is none") {
  Counters odd;
  odd.add("a", 0, {NAN, NAN});
  odd.add("b", 1, {20, 20});
  CHECK(odd.check().empty());
  const auto newest = newest_step(odd.state.records);
  REQUIRE(newest.has_value());
  CHECK(newest->step == 20);
}

TEST_CASE("a Trainer's files are held against trainer_state.json") {
  struct Case {
    float optimizer;
    std::int64_t scheduler, trainer;
    std::string_view directory;
    std::size_t said;
    Code code;
  };
  for (const Case& one : {Case{4, 4, 4, "x/checkpoint-4", 0, Code::mixed_step},
                          Case{4, 4, 4, "x/mine", 0, Code::mixed_step},
                          Case{2, 4, 4, "x/checkpoint-4", 1, Code::mixed_step},
                          Case{6, 4, 4, "x/checkpoint-4", 1, Code::mixed_step},
                          Case{4, 2, 4, "x/checkpoint-4", 1, Code::mixed_step},
                          Case{4, 4, 2, "x/checkpoint-4", 1, Code::mixed_step},
                          Case{4, 4, 2, "x/mine", 2, Code::mixed_step},
                          Case{2, 2, 4, "x/checkpoint-4", 1, Code::step_counter}}) {
    Counters files;
    files.add("x/optimizer.pt", kNoRank, {one.optimizer});
    files.state.facts.push_back(stated("scheduler.last_epoch", one.scheduler, "x/scheduler.pt"));
    const std::vector<Fact> described = {
        stated("trainer.global_step", one.trainer, "x/trainer_state.json")};
    const auto said = check_trainer_steps(files.state, described, one.directory);
    CAPTURE(one.optimizer);
    REQUIRE(said.size() == one.said);
    if (one.said > 0) CHECK(said[0].code == one.code);
    files.state.facts.push_back(stated("scaler._growth_tracker", 1, "x/scaler.pt"));
    if (one.optimizer == 2) CHECK(check_trainer_steps(files.state, described, "x").empty());
  }
}

}  // namespace
}  // namespace ttcheck::formats
