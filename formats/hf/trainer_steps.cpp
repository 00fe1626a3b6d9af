// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/trainer_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "formats/bytes/findings.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/ranks/file_steps.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kNamed = "checkpoint-";
constexpr double kMostSteps = 1e15;  ///< exact as a double

/// What one file says.
struct Stated {
  std::int64_t step = 0;
  Where where;
};

std::string file_of(const Stated& stated) {
  return stated.where.file.substr(stated.where.file.rfind('/') + 1);
}

std::optional<Stated> stated_by(const std::vector<Fact>& facts, std::string_view name) {
  const Fact* fact = find_fact(facts, name);
  const auto* step = fact != nullptr ? std::get_if<std::int64_t>(&fact->value) : nullptr;
  return step != nullptr ? std::optional(Stated{*step, fact->where}) : std::nullopt;
}

std::optional<Stated> of_optimizer(const std::vector<Record>& records) {
  const auto newest = newest_step(records);
  if (!newest || !(newest->step >= 0 && newest->step <= kMostSteps)) return std::nullopt;
  return Stated{static_cast<std::int64_t>(newest->step), newest->where};
}

Finding differ(const Stated& odd, const Stated& other) {
  return found(Code::mixed_step,
               fmt::format("{} is at step {}, {} at {}: files of several steps", file_of(odd),
                           odd.step, file_of(other), other.step),
               odd.where);
}

}  // namespace

std::vector<Finding> check_trainer_steps(const State& state, const std::vector<Fact>& described,
                                         std::string_view given) {
  const auto trainer = stated_by(described, "trainer.global_step");
  if (!trainer) return {};
  const bool evaluated = find_fact(state.facts, "scheduler.best") != nullptr;
  const auto scheduler = evaluated ? std::nullopt : stated_by(state.facts, "scheduler.last_epoch");
  const auto optimizer = of_optimizer(state.records);
  const bool skips = std::ranges::any_of(
      state.facts, [](const Fact& fact) { return fact.name.starts_with("scaler"); });
  const auto named = step_of_path(given, kNamed);
  if (named && *named != trainer->step) {
    return {found(Code::mixed_step,
                  fmt::format("{} is at step {}, the directory's name says {}", file_of(*trainer),
                              trainer->step, *named),
                  trainer->where)};
  }
  const auto apart = [&](const std::optional<Stated>& one) {
    return one && (one->step > trainer->step || (one->step < trainer->step && !skips));
  };
  if (optimizer && scheduler && apart(optimizer) && optimizer->step == scheduler->step &&
      optimizer->step < trainer->step) {
    return {odd(optimizer->where,
                fmt::format("{} and {} are at step {}, {} at {}: they were made anew on the way, "
                            "or are older",
                            file_of(*optimizer), file_of(*scheduler), optimizer->step,
                            file_of(*trainer), trainer->step),
                Code::step_counter)};
  }
  std::vector<Finding> findings;
  if (apart(optimizer)) findings.push_back(differ(*optimizer, *trainer));
  if (apart(scheduler)) findings.push_back(differ(*scheduler, *trainer));
  return findings;
}

}  // namespace ttcheck::formats
