// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/beside.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "core/base/checked.hpp"
#include "core/base/first_few.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/folder/unopened.hpp"
#include "formats/readers/auction.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kDepth = 4;
constexpr std::size_t kNamed = 8;
constexpr std::string_view kPartOfMany = ".distcp";  ///< holds arrays, but alone it is nothing

std::uint64_t bytes_in(const Root& root, const Entry& entry) {
  if (entry.kind == EntryKind::file) return entry.size;
  std::uint64_t bytes = 0;
  try {
    for (const Entry& below : root.glance(entry.path).list("", kDepth)) {
      if (below.kind == EntryKind::file) bytes = checked_add(bytes, below.size);
    }
  } catch (const Error&) {
    return 0;  // told with what the root could not show
  }
  return bytes;
}

}  // namespace

Beside beside(const Probe& probe, const std::function<bool(const Entry&)>& ours) {
  Beside out;
  for (const Entry& entry : probe.root.list()) {
    if (entry.kind == EntryKind::other || ours(entry)) continue;
    const std::uint64_t bytes = bytes_in(probe.root, entry);
    out.unclaimed = checked_add(out.unclaimed, bytes);
    if (is_known(probe, entry.path)) {
      out.runs.push_back(entry.path + (entry.kind == EntryKind::directory ? "/" : ""));
    } else if (bytes > 0) {
      out.rest.push_back(entry.path);
      out.rest_bytes = checked_add(out.rest_bytes, bytes);
    }
  }
  return out;
}

std::vector<Finding> findings_beside(const Beside& others, const Root& root) {
  const Where where{root.given(), {}, {}};
  std::vector<Finding> findings;
  if (!others.runs.empty()) {
    findings.push_back(odd(where, fmt::format("beside what is read are runs that are not; "
                                              "name one to read it: {}",
                                              named(others.runs))));
  }
  std::ranges::move(rest_beside(others, root), std::back_inserter(findings));
  return findings;
}

std::vector<Finding> findings_beside(const Probe& probe, const std::vector<std::string>& names) {
  Beside runs;
  std::vector<std::string> rest;
  for (const std::string& name : names) (is_known(probe, name) ? runs.runs : rest).push_back(name);
  std::vector<Finding> findings = findings_beside(runs, probe.root);
  if (!rest.empty()) {
    findings.push_back(remark({probe.root.given(), {}, {}},
                              fmt::format("beside the dumps, not read: {}", named(rest))));
  }
  return findings;
}

std::vector<Finding> rest_beside(const Beside& others, const Root& root) {
  Findings findings;
  std::vector<std::string> unknown;
  for (const std::string& name : others.rest) {
    if (promises_arrays(name) || name.ends_with(kPartOfMany)) {
      findings.add(damaged({root.given() + "/" + name, {}, {}},
                           "no known format in this file, beside what is read"));
    } else if (may_belong(name)) {
      unknown.push_back(name);
    }
  }
  if (!unknown.empty()) {
    findings.add(remark({root.given(), {}, {}}, fmt::format("beside what is read, of no known "
                                                            "format: {}",
                                                            named(unknown))));
  }
  return findings.take();
}

std::vector<NamedState> named_states(const Beside& others) {
  std::vector<NamedState> states;
  for (const std::string& name : others.runs) {
    const bool directory = name.ends_with('/');
    states.push_back({name.substr(0, name.size() - (directory ? 1 : 0)), {}});
  }
  return states;
}

std::string named(const std::vector<std::string>& names) { return first_few(names, kNamed); }

}  // namespace ttcheck::formats
