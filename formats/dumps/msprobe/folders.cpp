// SPDX-License-Identifier: Apache-2.0
// The user may name a dump, a step of it or a rank, and a folder's name need not say which it is.
// So what it holds is asked, from the bottom up: the files of a rank, then folders of ranks of
// which one holds such files, then folders of steps. Where a rank or a step was named, its
// numbers are taken from the end of the given path, if they stand there. Below a dump, a step
// counts as soon as it has folders of ranks: a dump that was not finished may have left them
// empty.
//
// Folders of processes are ranks only where there is no folder of a rank; else they are named as
// not read. Of two folders of one number (`rank1`, `rank01`) one is read, and the other is an
// error. Bytes of what lies beside are counted, of a folder four levels deep. Of a rank's folder
// only the listing is looked at here.

#include "formats/dumps/msprobe/folders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/readers/beside.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kStepFolder = "step", kRankFolder = "rank", kProcessFolder = "proc";
constexpr int kLevelsBeside = 4;

/// The number of `<word><digits>`.
template <class Number>
std::optional<Number> number_behind(std::string_view name, std::string_view word) {
  if (!name.starts_with(word)) return std::nullopt;
  name.remove_prefix(word.size());
  Number number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc{} && end == name.data() + name.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

std::string_view last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::vector<std::string> names_in(const Root& root, const std::string& folder) {
  std::vector<std::string> names;
  for (const Entry& entry : root.list(folder)) names.emplace_back(last_part(entry.path));
  return names;
}

/// Ranks of one step's folder, with what lies beside them.
class StepFolder {
 public:
  StepFolder(const Root& root, const std::string& folder) : root_(root) {
    for (const Entry& entry : root.list(folder)) {
      const std::string_view name = last_part(entry.path);
      const bool directory = entry.kind == EntryKind::directory;
      if (const auto rank = number_behind<std::int32_t>(name, kRankFolder); rank && directory) {
        claim(ranks_, *rank, entry.path, ranks_twice_);
      } else if (const auto process = number_behind<std::int64_t>(name, kProcessFolder);
                 process && directory) {
        claim(processes_, *process, entry.path, processes_twice_);
      } else {
        others_.push_back(entry);
      }
    }
  }

  bool has_ranks() const { return !ranks_.empty() || !processes_.empty(); }

  bool is_dump() const {
    const auto holds = [&](const auto& one) {
      return is_msprobe_rank(names_in(root_, one.second));
    };
    return std::ranges::any_of(ranks_, holds) || std::ranges::any_of(processes_, holds);
  }

  std::map<std::int32_t, std::string> take(MsprobeFolders& out, bool top) {
    if (ranks_.empty()) {
      leave_twice(processes_twice_, out);
      if (processes_.size() > 1) {
        out.findings.push_back(
            odd({root_.given(), {}, {}},
                fmt::format("{} processes of one step belong to no group; they are taken as ranks "
                            "in the order of their numbers, {} first",
                            processes_.size(), processes_.begin()->second)));
      }
      for (auto& [number, path] : processes_) {
        ranks_.emplace(static_cast<std::int32_t>(ranks_.size()), std::move(path));
      }
    } else {
      out.of_group = true;
      leave_twice(ranks_twice_, out);
      for (const auto& [number, path] : processes_) leave(path, out);
      for (const auto& [path, first] : processes_twice_) leave(path, out);
    }
    for (const Entry& entry : others_) {
      if (top) continue;  // said with what lies beside the steps
      if (entry.kind == EntryKind::file) out.unclaimed = checked_add(out.unclaimed, entry.size);
      if (entry.kind == EntryKind::directory) leave(entry.path, out);
    }
    return std::move(ranks_);
  }

 private:
  /// Folders whose numbers are others' (`rank01`), and these others.
  using Twice = std::vector<std::pair<std::string, std::string>>;

  template <class Folders>
  static void claim(Folders& folders, typename Folders::key_type number, const std::string& path,
                    Twice& twice) {
    const auto [first, fresh] = folders.emplace(number, path);
    if (!fresh) twice.emplace_back(path, first->second);
  }

  /// A folder that is not read.
  void leave(const std::string& path, MsprobeFolders& out) const {
    out.findings.push_back(remark(where(path), "lies beside the ranks' folders: not read"));
    count(path, out);
  }

  /// Of several folders of one number the first by name is read.
  void leave_twice(const Twice& twice, MsprobeFolders& out) const {
    for (const auto& [path, first] : twice) {
      Finding finding = found(
          Code::overlap, fmt::format("{} is of the same number as {}, which is used", path, first),
          where(path));
      finding.incomplete = true;
      out.findings.push_back(std::move(finding));
      count(path, out);
    }
  }

  Where where(const std::string& path) const { return {root_.given() + "/" + path, {}, {}}; }

  void count(const std::string& path, MsprobeFolders& out) const {
    for (const Entry& entry : root_.list(path, kLevelsBeside)) {
      if (entry.kind == EntryKind::file) out.unclaimed = checked_add(out.unclaimed, entry.size);
    }
  }

  const Root& root_;
  std::map<std::int32_t, std::string> ranks_;
  std::map<std::int64_t, std::string> processes_;
  Twice ranks_twice_, processes_twice_;
  std::vector<Entry> others_;
};

void add_beside(const Probe& probe, const std::function<bool(const Entry&)>& ours,
                MsprobeFolders& out) {
  const Beside others = beside(probe, ours);
  out.unclaimed = checked_add(out.unclaimed, others.unclaimed);
  for (Finding& finding : findings_beside(others, probe.root)) {
    out.findings.push_back(std::move(finding));
  }
}

bool is_rank_folder(const Entry& entry) {
  return entry.kind == EntryKind::directory &&
         (number_behind<std::int32_t>(entry.path, kRankFolder) ||
          number_behind<std::int64_t>(entry.path, kProcessFolder));
}

/// The step that the given path ends in, or that holds the rank it ends in.
std::int64_t step_in(std::string_view given, bool rank) {
  while (given.ends_with('/')) given.remove_suffix(1);
  if (rank) given = given.substr(0, std::min(given.size(), given.rfind('/')));
  return number_behind<std::int64_t>(last_part(given), kStepFolder).value_or(-1);
}

}  // namespace

bool is_msprobe_rank(const std::vector<std::string>& names) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(names, name) != names.end();
  };
  const bool beside = has("stack.json") || has("construct.json") || has("dump_tensor_data");
  return has("dump_tensor_data") || (beside && (has("dump.json") || has("debug.json")));
}

MsprobeFolders msprobe_folders(const Probe& probe) {
  MsprobeFolders out;
  const Root& root = probe.root;
  if (is_msprobe_rank(probe.names)) {
    const auto rank = number_behind<std::int32_t>(last_part(root.given()), kRankFolder);
    out.of_group = rank.has_value();
    out.steps[step_in(root.given(), true)][rank.value_or(0)] = "";
    return out;
  }
  if (StepFolder step(root, ""); step.is_dump()) {
    out.steps[step_in(root.given(), false)] = step.take(out, true);
    add_beside(probe, is_rank_folder, out);
    return out;
  }
  // Of a dump that was not finished a step's ranks may hold nothing that can be read.
  const auto is_step = [&](const Entry& entry) {
    return entry.kind == EntryKind::directory &&
           number_behind<std::int64_t>(entry.path, kStepFolder) &&
           StepFolder(root, entry.path).has_ranks();
  };
  for (const Entry& entry : root.list()) {
    if (!is_step(entry)) continue;
    const auto number = *number_behind<std::int64_t>(entry.path, kStepFolder);
    if (out.steps.contains(number)) {
      throw Error(fmt::format("several folders are step {}: name the one that is meant", number),
                  {root.given(), {}, {}});
    }
    out.steps[number] = StepFolder(root, entry.path).take(out, false);
  }
  if (!out.steps.empty()) add_beside(probe, is_step, out);
  return out;
}

bool is_msprobe_dump(const Probe& probe) {
  if (is_msprobe_rank(probe.names) || StepFolder(probe.root, "").is_dump()) return true;
  return std::ranges::any_of(probe.names, [&](const std::string& name) {
    return number_behind<std::int64_t>(name, kStepFolder) && StepFolder(probe.root, name).is_dump();
  });
}

}  // namespace ttcheck::formats
