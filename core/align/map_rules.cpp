// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ttcheck::align {
namespace {

/// What `make` gives; its error names the rule's file and line.
template <class Make>
auto of_rule(const MapRule& rule, Make&& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw error.saying(fmt::format("line {}: {}", rule.line, error.message()))
        .at({rule.file, {}, {}});
  }
}

MapOp op_of(const MapRule& rule) {
  return of_rule(rule, [&] { return rule.op.empty() ? MapOp{} : parse_op(rule.op); });
}

/// The items of the first list in braces, `{q,k,v}`, and what stands around it.
struct List {
  std::string before, after;
  std::vector<std::string> items;
};

List list_of(const std::string& pattern) {
  for (std::size_t open = pattern.find('{'); open != std::string::npos;
       open = pattern.find('{', open + 1)) {
    const std::size_t close = pattern.find('}', open);
    if (close == std::string::npos) break;
    const std::string text = pattern.substr(open + 1, close - open - 1);
    if (text.find(',') == std::string::npos) continue;
    List list{pattern.substr(0, open), pattern.substr(close + 1), {}};
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      list.items.push_back(text.substr(at, comma - at));
      at = comma + 1;
    }
    return list;
  }
  return {};
}

/// The patterns that a list stands for; the pattern itself when it has none.
std::vector<std::string> expanded(const std::string& pattern) {
  const List list = list_of(pattern);
  if (list.items.empty()) return {pattern};
  std::vector<std::string> patterns;
  for (const std::string& item : list.items) patterns.push_back(list.before + item + list.after);
  return patterns;
}

/// The side of a rule that holds the parts: the one with a list, else the reference's.
const std::string& parts_side(const MapRule& rule) {
  return expanded(rule.candidate).size() > 1 ? rule.candidate : rule.reference;
}

/// The patterns of the parts, in the order in which they lie in the whole: that of the list, but
/// `glu(up, gate)` says which half comes first. Without their own names the items are gate and up.
std::vector<std::string> parts_of(const MapRule& rule, const MapOp& op) {
  const std::string& side = parts_side(rule);
  std::vector<std::string> parts = expanded(side);
  if (op.kind != OpKind::glu) return parts;
  const auto is = [&](const std::string& first, const std::string& second) {
    return op.arguments[0] == first && op.arguments[1] == second;
  };
  const std::vector<std::string> items = list_of(side).items;
  if (items.size() != 2) {
    throw Error(
        fmt::format("line {}: map op 'glu' wants two names in braces, as in "
                    "'{{gate,up}}_proj'",
                    rule.line));
  }
  if (op.arguments.empty() || is(items[0], items[1])) return parts;
  const bool turned = is(items[1], items[0]) || is("up", "gate");
  if (turned) std::swap(parts[0], parts[1]);
  if (turned || is("gate", "up")) return parts;
  throw Error(fmt::format("line {}: the halves of map op 'glu' are {} and {}, not {} and {}",
                          rule.line, items[0], items[1], op.arguments[0], op.arguments[1]));
}

/// A pattern of a rule, without the scale that stands in a list beside a weight.
std::string without_scale(const std::string& pattern, const MapOp& op) {
  return op.kind == OpKind::dequant ? expanded(pattern).front() : pattern;
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
    : op_(op_of(rule)),
      glob_(of_rule(rule, [&] { return Glob(without_scale(rule.reference, op_)); })),
      to_(without_scale(rule.candidate, op_)),
      scheme_("map " + rule.reference),
      parts_(parts_of(rule, op_)),
      whole_(&parts_side(rule) == &rule.reference ? rule.candidate : rule.reference) {
  for (const std::string& part : parts_) part_globs_.emplace_back(part);
  if (op_.kind == OpKind::dequant && parts_.size() > 2) {
    throw Error(
        fmt::format("line {}: map op 'dequant' wants a weight and its scale in braces, as in "
                    "'{{weight,weight_scale}}'",
                    rule.line),
        {rule.file, {}, {}});
  }
}

std::string UserMap::candidate_name(std::string_view reference_name) const {
  if (const auto match = glob_.match(reference_name)) return filled(to_, *match);
  const std::size_t at = std::min(reference_name.find('@'), reference_name.size());
  const auto match = glob_.match(reference_name.substr(0, at));
  std::string name = match ? filled(to_, *match) : std::string();
  if (!name.empty()) name += reference_name.substr(at);
  return name;
}

bool UserMap::admits(const Tensor& candidate) const {
  const auto dtype = dtype_of(op_);
  return !dtype || candidate.kind != Kind::weight || candidate.dtype == *dtype;
}

bool UserMap::dequantises(std::string_view name) const {
  if (op_.kind != OpKind::dequant) return false;
  return parts_.size() > 1 ? part_globs_.front().matches(name)
                           : glob_.matches(name) || whole_.matches(name);
}

std::string UserMap::scale_of(std::string_view name) const {
  if (op_.kind != OpKind::dequant || parts_.size() < 2) return {};
  const auto match = part_globs_.front().match(name);
  return match ? filled(parts_[1], *match) : std::string();
}

std::string UserMap::tied_to(std::string_view name) const {
  if (op_.kind != OpKind::tie) return {};
  auto match = glob_.match(name);
  if (!match) match = whole_.match(name);
  return match ? filled(op_.arguments.at(0), *match) : std::string();
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
