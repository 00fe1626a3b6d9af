// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/unopened.hpp"

#include <algorithm>
#include <array>

#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 22> kOtherEndings = {
    ".log", ".out",   ".err", ".md",  ".html", ".pdf", ".png", ".jpg", ".svg",   ".gif", ".py",
    ".pyc", ".ipynb", ".sh",  ".csv", ".tsv",  ".c",   ".cpp", ".cu",  ".patch", ".so",  ".lock"};

constexpr std::array<std::string_view, 4> kHiddenRead = {".metadata", ".zarray", ".zgroup",
                                                         ".zattrs"};

bool is_named(const std::vector<Finding>& findings, const std::string& file) {
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    return finding.where && finding.where->file == file && finding.incomplete;
  });
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
  for (const Error& error : root.take_faults()) {
    const std::string& file = error.where().file;
    if (may_belong(file) && !is_named(findings, file)) told.add(unreadable(error));
  }
  std::ranges::move(told.take(), std::back_inserter(findings));
}

}  // namespace ttcheck::formats
