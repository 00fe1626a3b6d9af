// A directory that holds one run, one level down: a hub cache folder (`models--x/snapshots/<rev>`),
// or the parent of a checkpoint. Where several runs could be meant they are listed and none is
// picked.

#include <fmt/format.h>

#include <algorithm>

#include "formats/auction.hpp"
#include "formats/rows.hpp"

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

int bid_parent(const Probe& probe) {
  if (!probe.file.empty() || probe.depth >= kMaxLevels) return 0;
  try {
    return children(probe).empty() ? 0 : 4;
  } catch (const Error&) {
    return 0;
  }
}

Run open_parent(const Probe& probe, const OpenOptions& options) {
  const std::vector<std::string> runs = children(probe);
  if (runs.size() == 1) return open_below(probe.root, runs.front(), options, probe.depth);
  std::string list;
  for (const std::string& name : runs) list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  throw Error("several runs could be meant, name one: " + list, {probe.root.given(), {}, {}});
}

}  // namespace

const Format kParent = {"parent", "directory that holds one run", bid_parent, open_parent};

}  // namespace ttcheck::formats
