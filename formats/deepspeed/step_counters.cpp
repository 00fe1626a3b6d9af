// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/step_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/bytes/findings.hpp"
#include "formats/ranks/vote.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMostSteps = std::int64_t{1} << 53;  ///< exact as a double

std::string files(const std::vector<const DeepspeedPart*>& parts) {
  const std::string& first = parts.front()->file.path;
  if (parts.size() == 1) return first;
  return fmt::format("{} and {} more", first, parts.size() - 1);
}

}  // namespace

DeepspeedSteps::DeepspeedSteps(const DeepspeedTag& tag) : tag_(tag), named_(tag.step()) {}

void DeepspeedSteps::note(const DeepspeedPart& part, const std::string& counter, double value) {
  if (std::isnan(value)) return;
  numbers_[counter][value].push_back(&part);
  if (!counter.ends_with("@step")) return;
  const auto [known, fresh] = newest_.try_emplace(&part, value);
  if (!fresh) known->second = std::max(known->second, value);
}

void DeepspeedSteps::check(State& state) {
  check_models(state);
  check_optimizers(state);
  check_numbers(state);
}

bool DeepspeedSteps::fits(double step, std::int64_t steps) const {
  return step >= static_cast<double>(steps) - static_cast<double>(skipped_) &&
         step <= static_cast<double>(steps) + 1;
}

void DeepspeedSteps::check_models(State& state) {
  Votes votes;
  for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
    const Value root = part->torch->root();
    const auto steps = item_of(root, "global_steps").integer();
    if (steps && *steps >= 0 && *steps <= kMostSteps) {
      votes[static_cast<double>(*steps)].push_back(part);
    }
    skipped_ = std::max(skipped_, item_of(root, "skipped_steps").integer().value_or(0));
  }
  if (votes.empty()) return;
  const bool as_named = named_ && votes.contains(static_cast<double>(*named_));
  const auto usual = as_named ? std::optional(static_cast<double>(*named_)) : usual_of(votes);
  if (usual) usual_ = static_cast<std::int64_t>(*usual);
  for (const auto& [value, parts] : votes) {
    if (value == usual) continue;
    const std::string others = as_named ? fmt::format("the tag's name says {}", *named_)
                               : usual
                                   ? fmt::format("{} in {} others", *usual, votes.at(*usual).size())
                                   : "other files state others as often";
    blame(parts, fmt::format("global_steps is {} in {}, {}", value, files(parts), others), state);
  }
  if (!named_ || as_named || votes.size() != 1) return;
  const std::int64_t stated = static_cast<std::int64_t>(votes.begin()->first);
  const bool by_name = std::ranges::any_of(newest_, [&](const auto& entry) {
    return fits(entry.second, *named_) && !fits(entry.second, stated);
  });
  const Parts& parts = votes.begin()->second;
  const std::string message = fmt::format("global_steps is {} in {}, the tag's name says {}",
                                          stated, files(parts), *named_);
  if (by_name) {
    usual_ = named_;
    blame(parts, message, state);
  } else {
    state.findings.push_back(odd({tag_.given, {}, {}}, message, Code::mixed_step));
  }
}

/// Optimizers that made more steps than there were.
void DeepspeedSteps::check_optimizers(State& state) {
  if (!usual_) return;
  Votes ahead;
  std::size_t behind = 0;
  for (const auto& [part, step] : newest_) {
    if (step > static_cast<double>(*usual_) + 1) ahead[step].push_back(part);
    if (step < static_cast<double>(*usual_) - static_cast<double>(skipped_)) ++behind;
  }
  for (const auto& [step, parts] : ahead) {
    blame(parts,
          fmt::format("the optimizer made {} steps in {}, of {} that global_steps counts", step,
                      files(parts), *usual_),
          state);
  }
  if (behind == 0 || behind != newest_.size()) return;
  state.findings.push_back(
      remark({tag_.given, {}, {}},
             fmt::format("the optimizer made {} steps, of {} that global_steps counts: it was made "
                         "anew on the way, or its files are older",
                         newest_.begin()->second, *usual_),
             Code::step_counter));
}

void DeepspeedSteps::check_numbers(State& state) {
  for (const auto& [part, step] : newest_) numbers_["@step"][step].push_back(part);
  for (const auto& [counter, votes] : numbers_) {
    if (votes.size() < 2) continue;
    const bool step = counter.ends_with("@step");
    const auto usual =
        usual_of(votes, [&](double value) { return step && usual_ && fits(value, *usual_); });
    for (const auto& [value, parts] : votes) {
      if (value == usual) continue;
      const std::string others = usual ? fmt::format("{} in {}", *usual, files(votes.at(*usual)))
                                       : "other files state others as often";
      blame(parts, fmt::format("{} is {} in {}, {}", counter, value, files(parts), others), state);
    }
  }
}

/// Once for each file.
void DeepspeedSteps::blame(const Parts& parts, const std::string& message, State& state) {
  Parts fresh;
  std::ranges::copy_if(parts, std::back_inserter(fresh),
                       [&](const auto* part) { return blamed_.insert(part).second; });
  if (fresh.empty()) return;
  Finding finding = found(Code::mixed_step, message + ": files of several steps",
                          {tag_.path_of(*fresh.front()), {}, {}});
  for (const DeepspeedPart* part : fresh) {
    const std::int32_t rank = tag_.ranks.rank(part->file.dp.value_or(0), part->file.mp);
    if (std::ranges::find(finding.ranks, rank) == finding.ranks.end()) {
      finding.ranks.push_back(rank);
    }
  }
  std::ranges::sort(finding.ranks);
  state.findings.push_back(std::move(finding));
}

}  // namespace ttcheck::formats
