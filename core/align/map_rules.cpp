#include "core/align/map_rules.hpp"

#include <fmt/format.h>

namespace ttcheck::align {
namespace {

bool is_ignore(const MapRule& rule) {
  if (rule.op == "ignore") return true;
  if (rule.op == "same" || rule.op.empty()) return false;
  throw Error(
      fmt::format("line {}: map op '{}' is not known; known are same, ignore", rule.line, rule.op));
}

}  // namespace

RenamedBy::RenamedBy(const MapRule& rule)
    : glob_(rule.reference), to_(rule.candidate), ignore_(is_ignore(rule)) {}

std::string RenamedBy::candidate_name(std::string_view reference_name) const {
  const auto match = glob_.match(reference_name);
  if (!match) return {};
  std::string text;
  std::size_t wildcard = 0;
  for (std::size_t i = 0; i < to_.size(); ++i) {
    if (to_[i] == '{') {
      const std::size_t close = to_.find('}', i);
      if (close == std::string::npos) return {};
      const auto value = match->captures.find(std::string_view(to_).substr(i + 1, close - i - 1));
      if (value == match->captures.end()) return {};
      text += fmt::format("{}", value->second);
      i = close;
    } else if (to_[i] == '*') {
      if (i + 1 < to_.size() && to_[i + 1] == '*') ++i;
      if (wildcard >= match->wildcards.size()) return {};
      text += match->wildcards[wildcard++];
    } else {
      if (to_[i] == '\\' && i + 1 < to_.size()) ++i;
      text += to_[i];
    }
  }
  return text;
}

}  // namespace ttcheck::align
