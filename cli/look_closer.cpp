#include "cli/look_closer.hpp"

#include <fmt/format.h>

namespace ttcheck::cli {
namespace {

using Words = std::vector<std::string>;

void add_tolerances(const char* flag, const std::vector<limits::ToleranceRule>& rules,
                    Words& words) {
  for (const limits::ToleranceRule& rule : rules) {
    words.insert(words.end(),
                 {flag, rule.glob.empty() ? fmt::format("{}", rule.value)
                                          : fmt::format("{}:{}", rule.glob, rule.value)});
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
    words.insert(words.end(), {"--layout", side + layout.path});
  }
  for (const std::string& map : options.maps) words.insert(words.end(), {"--map", map});
}

void add_limits(const Options& options, Words& words) {
  using Mode = limits::LimitOptions::Mode;
  add_tolerances("--rtol", options.limits.rtol, words);
  add_tolerances("--atol", options.limits.atol, words);
  const Mode mode = options.limits.mode;
  if (!options.limits_file.empty()) {
    words.insert(words.end(), {"--limits", options.limits_file});
  } else if (mode != Mode::automatic) {
    words.insert(words.end(), {"--limits", mode == Mode::exact ? "exact" : "model"});
  }
}

}  // namespace

std::vector<std::string> look_closer(const TensorResult& result, const DiffContext& context) {
  const Options& options = context.options;
  const Identity& identity = result.identity;
  const bool near = options.command == "show";  // what is next is the whole
  Words words = {"ttcheck", near ? "diff" : "show", context.reference.path};
  if (!near) words.push_back(identity.name);
  words.push_back(context.candidate.path);
  if (result.step) words.insert(words.end(), {"--step", fmt::format("{}", *result.step)});
  if (near) {
    words.push_back("-v");
  } else {
    add_record(identity, words);
  }
  add_reading(options, words);
  add_limits(options, words);
  return words;
}

}  // namespace ttcheck::cli
