// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/stated_step.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/digits.hpp"
#include "formats/folder/series_names.hpp"
#include "formats/ranks/file_steps.hpp"

namespace ttcheck::formats {
namespace {

/// Last words of facts by which trainers count steps: transformers and Lightning, DeepSpeed,
/// Megatron, scripts.
constexpr std::array<std::string_view, 4> kCounters = {"global_step", "global_steps", "iteration",
                                                       "step"};
/// The counter of schedulers, which some step once an epoch.
constexpr std::string_view kSchedule = "last_epoch";
/// Beside its generators accelerate keeps how often it accumulated, often 0 at any step.
constexpr std::string_view kGenerators = "rng.";
constexpr double kMostSteps = 1e15;  ///< exact as a double

/// The last part of a path.
std::string_view name_in(std::string_view given) {
  while (given.ends_with('/')) given.remove_suffix(1);
  return given.substr(given.rfind('/') + 1);
}

/// What the path says: its last part, or of a file the folder that it lies in.
std::optional<std::int64_t> step_named(std::string_view given, bool directory) {
  const std::string_view name = name_in(given);
  if (const auto step = step_stated_by(name, directory)) return step;
  if (directory || name.size() == given.size()) return std::nullopt;
  return step_stated_by(name_in(given.substr(0, given.size() - name.size())), true);
}

std::string_view last_word(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// An entry of a log, or what is counted for one parameter.
bool is_in_list(std::string_view name) {
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    if (is_number(name.substr(0, dot))) return true;
    name.remove_prefix(dot + 1);
  }
  return false;
}

/// What facts of that last word agree on.
std::optional<std::int64_t> agreed(std::span<const Fact> run, std::span<const Fact> state,
                                   std::string_view word) {
  std::set<std::int64_t> values;
  for (const auto& facts : {run, state}) {
    for (const Fact& fact : facts) {
      const auto* value = std::get_if<std::int64_t>(&fact.value);
      if (value == nullptr || last_word(fact.name) != word) continue;
      if (fact.name.starts_with(kGenerators)) continue;
      if (word == kSchedule || !is_in_list(fact.name)) values.insert(*value);
    }
  }
  return values.size() == 1 ? std::optional(*values.begin()) : std::nullopt;
}

}  // namespace

std::vector<Fact> step_facts(std::span<const Fact> facts) {
  std::vector<Fact> counting;
  std::ranges::copy_if(facts, std::back_inserter(counting), [](const Fact& fact) {
    const std::string_view word = last_word(fact.name);
    return word == kSchedule || std::ranges::find(kCounters, word) != kCounters.end();
  });
  return counting;
}

std::vector<StatedStep> steps_stated(std::string_view given, bool directory,
                                     std::span<const Fact> facts, const State& state) {
  std::vector<StatedStep> stated;
  if (const auto step = step_named(given, directory)) {
    stated.push_back({"its name", *step});
  }
  for (const std::string_view word : kCounters) {
    if (const auto step = agreed(facts, state.facts, word)) {
      stated.push_back({std::string(word), *step});
    }
  }
  const auto newest = stated.empty() ? newest_step(state.records) : std::nullopt;
  if (newest && newest->step >= 0 && newest->step <= kMostSteps) {
    stated.push_back({"its optimizer", static_cast<std::int64_t>(newest->step)});
  }
  if (const auto step = agreed(facts, state.facts, kSchedule)) {
    stated.push_back({std::string(kSchedule), *step});
  }
  return stated;
}

std::optional<StatedStep> stated_in_series(std::string_view given, bool directory) {
  auto formed = step_in_form(name_in(given), directory);
  if (!formed) return std::nullopt;
  return StatedStep{std::move(formed->first), formed->second};
}

}  // namespace ttcheck::formats
