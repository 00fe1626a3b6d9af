// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/dump_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "core/base/checked.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/megatron/directory_names.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kFileEnding = ".pth";
constexpr std::string_view kIteration = "iter_";
constexpr std::array<std::string_view, 3> kDumpedKinds = {"wgrads", "dgrads", "activations"};

std::optional<DumpedKind> kind_of_folder(std::string_view name) {
  const auto found = std::ranges::find(kDumpedKinds, name);
  if (found == kDumpedKinds.end()) return std::nullopt;
  return static_cast<DumpedKind>(found - kDumpedKinds.begin());
}

std::string_view last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string_view without_last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t at = path.rfind('/');
  return at == std::string_view::npos ? std::string_view() : path.substr(0, at);
}

class FileSearch {
 public:
  explicit FileSearch(const Root& root) : root_(root) {}

  /// The folders that say kind and iteration may be above the root, in it, or left out.
  MegatronDumpFiles run() {
    const std::string_view given = root_.given();
    const auto step = step_of_path(given, kIteration);
    const auto kind = kind_of_folder(last_part(step ? without_last_part(given) : given));
    add_files(step, "", kind.value_or(DumpedKind::unknown));
    return std::move(found_);
  }

 private:
  // Mutual recursion, three folders deep.
  // NOLINTNEXTLINE(misc-no-recursion)
  void add_files(std::optional<std::int64_t> step, const std::string& folder, DumpedKind kind) {
    for (const Entry& entry : root_.list(folder)) {
      const std::string_view name = last_part(entry.path);
      if (entry.kind == EntryKind::directory && add_folder(entry.path, step, kind)) continue;
      std::vector<std::int64_t> numbers;
      if (entry.kind == EntryKind::file && name.ends_with(kFileEnding)) {
        numbers = rank_numbers(name.substr(0, name.size() - kFileEnding.size()));
      }
      if (numbers.empty()) {
        leave(entry);
      } else {
        found_.steps[step].push_back({entry.path, kind, std::move(numbers)});
      }
    }
  }

  /// True for a folder of a kind or of an iteration: each is entered once on the way down.
  // NOLINTNEXTLINE(misc-no-recursion)
  bool add_folder(const std::string& folder, std::optional<std::int64_t> step, DumpedKind kind) {
    const auto kind_below = kind_of_folder(last_part(folder));
    const auto step_below = step_of_path(folder, kIteration);
    if (kind_below && kind == DumpedKind::unknown && !step) {
      add_files(step, folder, *kind_below);
    } else if (step_below && !step) {
      add_files(step_below, folder, kind);
    } else {
      return false;
    }
    return true;
  }

  void leave(const Entry& entry) {
    constexpr int kLevels = 4;
    std::uint64_t bytes = entry.kind == EntryKind::file ? entry.size : 0;
    if (entry.kind == EntryKind::directory) {
      for (const Entry& below : root_.list(entry.path, kLevels)) {
        if (below.kind == EntryKind::file) bytes = checked_add(bytes, below.size);
      }
    }
    found_.unclaimed = checked_add(found_.unclaimed, bytes);
    if (bytes > 0) found_.others.push_back(entry.path);
  }

  const Root& root_;
  MegatronDumpFiles found_;
};

}  // namespace

MegatronDumpFiles find_megatron_dump(const Root& root) { return FileSearch(root).run(); }

}  // namespace ttcheck::formats
