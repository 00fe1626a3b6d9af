// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/stale_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kDepth = 4;  ///< of folders in a step
constexpr std::size_t kReadBlock = std::size_t{1} << 20;

/// The files below `path`, or it alone, smallest first: a difference shows soonest in these.
std::vector<Entry> files_of(const Root& root, const std::string& path) {
  const auto self = root.entry(path);
  std::vector<Entry> files;
  if (self && self->kind == EntryKind::file) files.push_back(*self);
  if (self && self->kind == EntryKind::directory) files = root.list(path, kDepth);
  std::erase_if(files, [](const Entry& entry) { return entry.kind != EntryKind::file; });
  for (Entry& file : files) file.path.erase(0, path.size());
  std::ranges::sort(files, [](const Entry& a, const Entry& b) {
    return a.size != b.size ? a.size < b.size : a.path < b.path;
  });
  return files;
}

bool same_bytes(const Source& a, const Source& b) {
  if (a.size() != b.size()) return false;
  std::vector<std::byte> left, right;
  for (std::uint64_t at = 0; at < a.size();) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(kReadBlock, a.size() - at));
    left.resize(count);
    right.resize(count);
    a.read(at, left);
    b.read(at, right);
    if (left != right) return false;
    at += count;
  }
  return true;
}

}  // namespace

std::optional<Finding> stale_copy(const Root& root, const StepPlace& step, const StepPlace& other) {
  const std::vector<Entry> files = files_of(root, step.path);
  const bool alike =
      !files.empty() &&
      std::ranges::equal(files, files_of(root, other.path), [](const Entry& a, const Entry& b) {
        return a.size == b.size && a.path == b.path;
      });
  if (!alike) return std::nullopt;
  std::uint64_t bytes = 0;
  for (const Entry& file : files) {
    if (!same_bytes(root.file(step.path + file.path), root.file(other.path + file.path))) {
      return std::nullopt;
    }
    bytes = checked_add(bytes, file.size);
  }
  Finding finding =
      found(Code::duplicate_checkpoint,
            fmt::format("{} is a copy of step {}: its {} file{} hold{} the same {} bytes",
                        step.path, other.step, files.size(), files.size() == 1 ? "" : "s",
                        files.size() == 1 ? "s" : "", bytes),
            {root.given() + "/" + step.path, {}, {}});
  finding.step = step.step;
  return finding;
}

}  // namespace ttcheck::formats
