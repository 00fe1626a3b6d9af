// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/unopened.hpp"

#include <algorithm>
#include <array>

#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 22> kOtherEndings = {
    ".log", ".out",   ".err", ".md",  ".html", ".pdf", ".png", ".jpg", ".svg",   ".gif", ".py",
    ".pyc", ".ipynb", ".sh",  ".csv", ".tsv",  ".c",   ".cpp", ".cu",  ".patch", ".so",  ".lock"};

constexpr std::array<std::string_view, 4> kHiddenRead = {".metadata", ".zarray", ".zgroup",
                                                         ".zattrs"};

/// The files of which it was said that they were not read.
NameViewSet files_said(const std::vector<Finding>& findings) {
  NameViewSet files;
  for (const Finding& finding : findings) {
    if (finding.where && finding.incomplete) files.insert(finding.where->file);
  }
  return files;
}

}  // namespace

bool may_belong(std::string_view file) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.starts_with('.')) return std::ranges::find(kHiddenRead, name) != kHiddenRead.end();
  if (name == "lost+found") return false;
  return std::ranges::none_of(kOtherEndings,
                              [&](std::string_view end) { return name.ends_with(end); });
}

void tell_faults(const Root& root, std::vector<Finding>& findings) {
  Findings told;
  const NameViewSet said = files_said(findings);
  for (const Error& error : root.take_faults()) {
    const std::string& file = error.where().file;
    if (may_belong(file) && !said.contains(file)) told.add(unreadable(error));
  }
  std::ranges::move(told.take(), std::back_inserter(findings));
}

}  // namespace ttcheck::formats
