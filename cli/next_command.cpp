// SPDX-License-Identifier: Apache-2.0
#include "cli/next_command.hpp"

#include <fmt/format.h>

namespace ttcheck::cli {
namespace {

using Words = std::vector<std::string>;

/// A value that begins with a dash is joined to its flag, or it would be one.
void add_flag(const std::string& flag, const std::string& value, Words& words) {
  if (value.starts_with('-')) {
    words.push_back(flag + "=" + value);
  } else {
    words.insert(words.end(), {flag, value});
  }
}

void add_tolerances(const char* flag, const std::vector<limits::ToleranceRule>& rules,
                    Words& words) {
  for (const limits::ToleranceRule& rule : rules) {
    add_flag(flag,
             rule.glob.empty() ? fmt::format("{}", rule.value)
                               : fmt::format("{}:{}", rule.glob, rule.value),
             words);
  }
}

/// What tells a record of a trace from others of its name.
void add_record(const Identity& identity, Words& words) {
  if (identity.phase != Phase::none) {
    words.insert(words.end(), {"--phase", std::string(name(identity.phase))});
  }
  if (identity.microbatch > 0) {
    words.insert(words.end(), {"--microbatch", fmt::format("{}", identity.microbatch)});
  }
  if (identity.call > 0) words.insert(words.end(), {"--call", fmt::format("{}", identity.call)});
}

void add_reading(const Options& options, Words& words) {
  for (const SideFile& layout : options.layouts) {
    const char* const side = layout.side == Side::reference   ? "reference="
                             : layout.side == Side::candidate ? "candidate="
                                                              : "";
    add_flag("--layout", side + layout.path, words);
  }
  for (const std::string& map : options.maps) add_flag("--map", map, words);
}

void add_limits(const Options& options, Words& words) {
  using Mode = limits::LimitOptions::Mode;
  add_tolerances("--rtol", options.limits.rtol, words);
  add_tolerances("--atol", options.limits.atol, words);
  const Mode mode = options.limits.mode;
  const std::string& file = options.limits_file;
  const std::string limits = mode == Mode::exact ? "exact" : mode == Mode::model ? "model" : file;
  if (!limits.empty()) add_flag("--limits", limits, words);
  if (!options.base.empty()) add_flag("--base", options.base, words);
}

}  // namespace

std::vector<std::string> look_closer(const TensorResult& result, const Options& options,
                                     const std::string& reference, const std::string& candidate) {
  const Identity& identity = result.identity;
  const bool near = options.command == "show";  // what is next is the whole
  Words words = {"ttcheck", near ? "diff" : "show"};
  if (result.step) words.insert(words.end(), {"--step", fmt::format("{}", *result.step)});
  if (near) words.push_back("-v");
  if (!near) add_record(identity, words);
  add_reading(options, words);
  add_limits(options, words);
  words.insert(words.end(), {"--", reference});  // no name behind it is a flag
  if (!near) words.push_back(identity.name);
  words.push_back(candidate);
  return words;
}

}  // namespace ttcheck::cli
