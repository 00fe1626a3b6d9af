// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/deepspeed_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/folder/tracker.hpp"
#include "formats/hf/weights.hpp"
#include "formats/readers/auction.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTracker = "latest";
constexpr std::string_view kStep = "global_step";
constexpr std::string_view kModel = "pytorch_model";

bool is_engine_folder(std::string_view name) {
  return name == kModel || numbered_folder(name, kStep);
}

}  // namespace

bool has_engine_folder(const Probe& probe) {
  return std::ranges::binary_search(probe.names, kTracker) &&
         std::ranges::any_of(probe.names, is_engine_folder);
}

bool EngineFolder::holds(std::string_view path) const {
  return found() && (path == path_ || path == kTracker);
}

/// The folder that the tracker names, else the last.
void EngineFolder::choose(const Probe& probe) {
  std::set<std::pair<std::int64_t, std::string>> folders;
  for (const Entry& entry : probe.root.list()) {
    if (entry.kind != EntryKind::directory || !is_engine_folder(entry.path)) continue;
    folders.emplace(numbered_folder(entry.path, kStep).value_or(0), entry.path);
  }
  if (folders.empty()) return;
  path_ = folders.rbegin()->second;
  const Fact& tracker = facts_.emplace_back(read_tracker_file(probe.root, kTracker));
  const std::string& text = std::get<std::string>(tracker.value);
  const auto named =
      std::ranges::find(folders, text, &std::pair<std::int64_t, std::string>::second);
  if (named != folders.end()) {
    path_ = named->second;
    return;
  }
  findings_.push_back(odd(tracker.where,
                          fmt::format("the tracker names none of its folders; {} is read", path_),
                          Code::torn));
}

EngineFolder::EngineFolder(const Probe& probe, const OpenOptions& options) {
  if (!has_engine_folder(probe)) return;
  try {
    choose(probe);
    if (!found()) return;
    Run& run = parts_.add(open_below(probe, path_, options));
    mesh_ = run.mesh;
  } catch (const Error& error) {
    findings_.push_back(unreadable(error));
    ++unreadable_;
  }
}

void EngineFolder::add_to(State& state) {
  State own;
  if (parts_.size() == 1) own = only_state(parts_[0]);
  std::set<std::string, std::less<>> known;
  for (const Record& record : state.records) known.insert(record.identity.name);
  std::erase_if(own.records, [&](const Record& record) {
    return record.kind == Kind::weight && known.contains(record.identity.name);
  });
  append(state, std::move(own));
  std::ranges::copy(facts_, std::back_inserter(state.facts));
  std::ranges::copy(findings_, std::back_inserter(state.findings));
  state.unreadable += unreadable_;
}

}  // namespace ttcheck::formats
