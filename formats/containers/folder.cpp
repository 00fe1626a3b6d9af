// SPDX-License-Identifier: Apache-2.0
// A folder of independent array files is one run whose tensors are named `<stem>.<name>`; numbered
// shards without an index belong together and keep their names; one file alone is opened as itself.
// Runs in directories beside the files are states with names of their own.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/parts.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/rng.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxLooked = 64;  // files looked at before bidding

std::vector<Entry> files_of(const Root& root) {
  std::vector<Entry> files = root.list();
  std::erase_if(files, [](const Entry& entry) { return entry.kind != EntryKind::file; });
  return files;
}

Bid bid_folder(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  std::size_t looked = 0;
  std::vector<Entry> files = files_of(probe.root);
  std::ranges::stable_partition(files, promises_arrays, &Entry::path);
  for (const Entry& entry : files) {
    if (++looked > kMaxLooked) return Bid::none;
    if (is_known(probe, entry.path)) return Bid::folder;
  }
  return Bid::none;
}

struct Folder {
  Parts parts;
  std::vector<std::string> prefixes;  ///< of each part
  std::vector<Finding> findings;
  std::int64_t unreadable = 0;
  std::uint64_t unclaimed = 0;
  bool step = false;  ///< named as a step of a series

  State read() {
    State whole;
    whole.findings = findings;
    whole.unreadable = unreadable;
    whole.bytes_unclaimed = unclaimed;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      append(whole, only_state(parts[i]), prefixes[i]);
    }
    if (step) take_rng(whole);
    return whole;
  }
};

/// Names: none for a single file, for shards and for .npy files, which are called by their stems.
std::string prefix_of(const std::string& file, const Run& part, bool alone,
                      const NameMap<std::int64_t>& stems) {
  if (alone || part.format == "npy" || parse_shard_name(file)) return {};
  const std::string stem = stem_of(file);
  return stems.at(stem) > 1 ? file : stem;
}

std::string format_of(Parts& parts) {
  std::set<std::string> formats;
  for (std::size_t i = 0; i < parts.size(); ++i) formats.insert(parts[i].format);
  for (const std::string_view word : {"npy", "torch"}) {
    if (formats.contains(std::string(word))) return std::string(word);
  }
  return *formats.begin();
}

/// Runs in directories beside the files.
std::vector<NamedState> runs_below(const Probe& probe) {
  std::vector<NamedState> named;
  for (const Entry& entry : probe.root.list()) {
    if (entry.kind != EntryKind::directory || !is_known(probe, entry.path)) continue;
    named.push_back({entry.path, {}});
  }
  return named;
}

/// True for a directory whose name is that of a step, opened by itself or in its series.
bool is_step(const Root& root) {
  std::string_view name = root.given();
  while (name.ends_with('/')) name.remove_suffix(1);
  return step_of_name(name.substr(name.rfind('/') + 1), true).has_value();
}

Run open_folder(const Probe& probe, const OpenOptions& options) {
  auto folder = std::make_shared<Folder>();
  std::vector<std::string> known;
  for (const Entry& entry : files_of(probe.root)) {
    if (is_known(probe, entry.path)) {
      known.push_back(entry.path);
      continue;
    }
    folder->unclaimed = checked_add(folder->unclaimed, entry.size);
    if (!promises_arrays(entry.path)) continue;
    ++folder->unreadable;
    folder->findings.push_back(
        found(Code::unreadable, fmt::format("no known format in this file of {} bytes", entry.size),
              {probe.root.file(entry.path).where(0).file, 0, {}}));
  }
  if (known.empty()) throw Error("its files are no longer there", {probe.root.given(), {}, {}});
  NameMap<std::int64_t> stems;  // how many files have it
  for (const std::string& file : known) ++stems[stem_of(file)];
  Run run;
  for (const std::string& file : known) {
    try {
      Run& part = folder->parts.add(open_below(probe, file, options));
      folder->prefixes.push_back(prefix_of(file, part, known.size() == 1, stems));
    } catch (const Error& error) {
      if (known.size() == 1) throw;
      folder->findings.push_back(unreadable(error));
      ++folder->unreadable;
    }
  }
  for (const std::string& name : missing_shards(known)) {
    folder->findings.push_back(found(Code::unreadable, fmt::format("shard {} is missing", name),
                                     {probe.root.given() + "/" + name, {}, {}}));
    ++folder->unreadable;
  }
  if (folder->parts.size() == 0) {
    throw Error("none of its files can be read: " + folder->findings.front().message,
                folder->findings.front().where.value_or(Where{}));
  }
  folder->step = is_step(probe.root);
  run.named = runs_below(probe);
  run.format = format_of(folder->parts);
  run.mesh = folder->parts[0].mesh;
  Folder* raw = folder.get();
  run.open = [raw](std::size_t) { return raw->read(); };
  const Root& root = probe.root;
  run.close = [raw, &root] {
    std::vector<Finding> findings = root.changed();
    for (Finding& finding : raw->parts.close()) findings.push_back(std::move(finding));
    return findings;
  };
  run.owner = folder;
  return run;
}

}  // namespace

const Format kFolder = {"folder", "independent array files", bid_folder, open_folder};

}  // namespace ttcheck::formats
