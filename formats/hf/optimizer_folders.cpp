// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/optimizer_folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/hf/weights.hpp"
#include "formats/readers/auction.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFolders = "optimizer_";
constexpr std::string_view kOwn = "optimizer.";  ///< what facts of an optimizer begin with

/// What a folder says, as part of the directory: its table's version is told with the model's.
State as_part(State state, std::int64_t number) {
  std::erase_if(state.facts, [](const Fact& fact) { return fact.name == "dcp.version"; });
  if (number == 0) return state;
  for (Record& record : state.records) {
    record.identity.name = fmt::format("{}.{}", model_prefix(number), record.identity.name);
  }
  for (Fact& fact : state.facts) {
    if (fact.name.starts_with(kOwn)) {
      fact.name.replace(0, kOwn.size(), fmt::format("{}{}.", kFolders, number));
    }
  }
  return state;
}

}  // namespace

bool is_optimizer_folder(std::string_view name) {
  return numbered_folder(name, kFolders).has_value();
}

OptimizerFolders::OptimizerFolders(const Probe& probe, const OpenOptions& options) {
  for (const Entry& entry : probe.root.list()) {
    if (entry.kind != EntryKind::directory || !is_optimizer_folder(entry.path)) continue;
    try {
      parts_.add(open_below(probe, entry.path, options));
      numbers_.push_back(*numbered_folder(entry.path, kFolders));
    } catch (const Error& error) {
      unopened_.push_back(unreadable(error));
    }
  }
}

void OptimizerFolders::add_to(State& state) {
  for (const Finding& finding : unopened_) {
    state.findings.push_back(finding);
    ++state.unreadable;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    append(state, as_part(only_state(parts_[i]), numbers_[i]));
  }
}

}  // namespace ttcheck::formats
