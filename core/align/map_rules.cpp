#include "core/align/map_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ttcheck::align {
namespace {

MapOp op_of(const MapRule& rule) {
  if (rule.op.empty()) return {};
  try {
    return parse_op(rule.op);
  } catch (const Error& error) {
    throw Error(fmt::format("line {}: {}", rule.line, error.message()));
  }
}

/// The patterns that a list in braces stands for; the pattern itself when it has none.
std::vector<std::string> expanded(const std::string& pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string::npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) break;
    const std::string list = pattern.substr(open + 1, close - open - 1);
    if (list.find(',') == std::string::npos) continue;
    std::vector<std::string> patterns;
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      patterns.push_back(pattern.substr(0, open) + list.substr(at, comma - at) +
                         pattern.substr(close + 1));
      at = comma + 1;
    }
    return patterns;
  }
  return {pattern};
}

/// The side of a rule that holds the parts: the one with a list, else the reference's.
const std::string& parts_side(const MapRule& rule) {
  return expanded(rule.candidate).size() > 1 ? rule.candidate : rule.reference;
}

/// A template filled with what a glob captured; empty when it asks for something else.
std::string filled(std::string_view to, const GlobMatch& match) {
  std::string text;
  std::size_t wildcard = 0;
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i] == '{') {
      const std::size_t close = to.find('}', i);
      if (close == std::string_view::npos) return {};
      const auto value = match.captures.find(to.substr(i + 1, close - i - 1));
      if (value == match.captures.end()) return {};
      text += fmt::format("{}", value->second);
      i = close;
    } else if (to[i] == '*') {
      if (i + 1 < to.size() && to[i + 1] == '*') ++i;
      if (wildcard >= match.wildcards.size()) return {};
      text += match.wildcards[wildcard++];
    } else {
      if (to[i] == '\\' && i + 1 < to.size()) ++i;
      text += to[i];
    }
  }
  return text;
}

}  // namespace

UserMap::UserMap(const MapRule& rule)
    : glob_(rule.reference),
      to_(rule.candidate),
      op_(op_of(rule)),
      scheme_("map " + rule.reference),
      parts_(expanded(parts_side(rule))),
      whole_(&parts_side(rule) == &rule.reference ? rule.candidate : rule.reference) {
  for (const std::string& part : parts_) part_globs_.emplace_back(part);
}

std::string UserMap::candidate_name(std::string_view reference_name) const {
  const auto match = glob_.match(reference_name);
  return match ? filled(to_, *match) : std::string();
}

std::vector<Reading> UserMap::readings(const std::string& name) const {
  const std::size_t at = std::min(name.find('@'), name.size());
  const std::string_view parameter = std::string_view(name).substr(0, at);
  const std::string kind = name.substr(at);
  std::vector<Reading> found;
  if (std::ranges::any_of(part_globs_, [&](const Glob& glob) { return glob.matches(parameter); })) {
    found.push_back({scheme_, {name}, {}});
  }
  if (const auto match = whole_.match(parameter)) {
    Reading reading{scheme_, {}, op_};
    for (const std::string& part : parts_) {
      std::string part_name = filled(part, *match);
      if (part_name.empty()) return found;
      reading.parts.push_back(std::move(part_name) + kind);
    }
    found.push_back(std::move(reading));
  }
  return found;
}

}  // namespace ttcheck::align
