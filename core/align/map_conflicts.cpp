// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_conflicts.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/align/map_rules.hpp"
#include "core/base/name_map.hpp"
#include "core/model/caret.hpp"

namespace ttcheck::align {
namespace {

using NameViews = NameViewSet;

NameViews names_of(std::span<const Tensor> tensors) {
  NameViews names;
  for (const Tensor& tensor : tensors) names.insert(tensor.identity.name);
  return names;
}

[[noreturn]] void refuse(const MapRule& first, const MapRule& second, std::string_view name) {
  const std::string what =
      fmt::format("the value of {} is already changed by the map of line {} ({}); say both in one",
                  name, first.line, first.op);
  const Error error = caret_error(what, second.text, second.column);
  throw error.saying(fmt::format("line {}: {}", second.line, error.message()))
      .at({second.file, std::nullopt, {}});
}

/// Holds the maps to names of `from` whose other name is in `to`.
void check(const std::vector<const MapRule*>& rules, std::span<const Tensor> from,
           const NameViews& to) {
  NameMap<const MapRule*> sources, targets;
  for (const MapRule* rule : rules) {
    const UserMap map(*rule);
    for (const Tensor& tensor : from) {
      const std::string& name = tensor.identity.name;
      const std::string other = map.candidate_name(name);
      if (other.empty() || !to.contains(other)) continue;
      const auto source = sources.try_emplace(name, rule).first;
      if (source->second != rule) refuse(*source->second, *rule, name);
      const auto target = targets.try_emplace(other, rule).first;
      if (target->second != rule) refuse(*target->second, *rule, other);
    }
  }
}

}  // namespace

void refuse_conflicts(const std::vector<MapRule>& maps, std::span<const Tensor> reference,
                      std::span<const Tensor> candidate) {
  std::vector<const MapRule*> rules;
  for (const MapRule& rule : maps) {
    if (UserMap(rule).rescales()) rules.push_back(&rule);
  }
  if (rules.size() < 2) return;
  check(rules, reference, names_of(candidate));
  check(rules, candidate, names_of(reference));
}

}  // namespace ttcheck::align
