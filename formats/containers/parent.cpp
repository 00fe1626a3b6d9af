// SPDX-License-Identifier: Apache-2.0
// A directory that holds one run, one level down: a hub cache folder (`models--x/snapshots/<rev>`),
// or the parent of a checkpoint. Where several runs could be meant they are listed and none is
// picked.

#include <fmt/format.h>

#include <algorithm>

#include "formats/bytes/findings.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kMaxLevels = 3;              // directories above the run that are looked through
constexpr std::size_t kMaxChildren = 100;  // looked at in one directory

bool is_hub_folder(const Probe& probe) {
  const auto has = [&](std::string_view name) {
    return std::binary_search(probe.names.begin(), probe.names.end(), name);
  };
  return has("snapshots") && has("blobs");
}

/// Directories below that may be the run.
std::vector<std::string> children(const Probe& probe) {
  std::vector<std::string> found;
  const bool hub = is_hub_folder(probe);
  for (const Entry& entry : probe.root.list(hub ? "snapshots" : "")) {
    if (entry.kind != EntryKind::directory) continue;
    if (found.size() < kMaxChildren && (hub || is_known(probe, entry.path))) {
      found.push_back(entry.path);
    }
  }
  return found;
}

Bid bid_parent(const Probe& probe) {
  if (!probe.file.empty() || probe.depth >= kMaxLevels) return Bid::none;
  try {
    return children(probe).empty() ? Bid::none : Bid::parent;
  } catch (const Error&) {
    return Bid::none;
  }
}

/// What lies beside the run, is of no known format, and promises arrays by a name: it may be a run,
/// or a part of this one, that is damaged.
std::vector<Finding> unknown_beside(const Probe& probe, const std::vector<std::string>& runs) {
  std::vector<Finding> findings;
  if (is_hub_folder(probe)) return findings;
  for (const Entry& entry : probe.root.list()) {
    if (std::ranges::find(runs, entry.path) != runs.end()) continue;
    std::vector<Entry> files = {entry};
    if (entry.kind == EntryKind::directory) {
      try {
        files = probe.root.glance(entry.path).list();
      } catch (const Error&) {
        continue;  // told with what the root could not show
      }
    }
    for (const Entry& file : files) {
      if (file.kind != EntryKind::file || !promises_arrays(file.path)) continue;
      std::string path = probe.root.given() + "/" + entry.path;
      if (entry.kind == EntryKind::directory) path += "/" + file.path;
      findings.push_back(
          damaged({std::move(path), {}, {}},
                  fmt::format("no known format in this file of {} bytes, beside the run that is "
                              "read",
                              file.size)));
      break;
    }
  }
  return findings;
}

/// Runs side by side: none is picked, each is a state with a name.
Run open_several(const Probe& probe, const OpenOptions& options,
                 const std::vector<std::string>& runs) {
  Run run;
  run.several = true;
  for (const std::string& name : runs) run.named.push_back({name, {}});
  run.format = open_below(probe, runs.front(), options).format;
  run.findings = unknown_beside(probe, runs);
  return run;
}

Run open_parent(const Probe& probe, const OpenOptions& options) {
  const std::vector<std::string> runs = children(probe);
  if (runs.size() == 1) {
    Run run = open_below(probe, runs.front(), options);
    std::ranges::move(unknown_beside(probe, runs), std::back_inserter(run.findings));
    return run;
  }
  if (options.several && probe.depth == 0 && !is_hub_folder(probe)) {
    return open_several(probe, options, runs);
  }
  std::string list;
  for (const std::string& name : runs) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  throw Error("several runs could be meant, name one: " + list, {probe.root.given(), {}, {}})
      .because("several-runs");
}

}  // namespace

const Format kParent = {"parent", "directory that holds one run", bid_parent, open_parent};

}  // namespace ttcheck::formats
