// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/attribute.hpp"

#include "formats/objects/known.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostEntries = 256;

Value find_in(Value dict, std::string_view name) {
  return dict.is(NodeKind::dict) && dict.size() <= kMostEntries ? dict.find(name) : Value();
}

}  // namespace

Value state_entry(Value state, std::string_view name) {
  if (!state.is(NodeKind::tuple) || state.size() != 2) return find_in(state, name);
  const Value slot = find_in(state[1], name);
  return slot ? slot : find_in(state[0], name);
}

Value attribute(Value object, std::string_view name) { return state_entry(object.state(), name); }

Value attribute_or_argument(Value object, std::string_view name, std::size_t position) {
  if (const Value found = attribute(object, name)) return found;
  if (object.args().size() > kMostEntries) return {};
  const std::vector<Value> given = construction(object);
  return position < given.size() ? given[position] : Value();
}

std::optional<std::vector<Value>> short_sequence(Value value, std::size_t most) {
  const Value given = value.args()[0];
  if (value.size() > most || value.items().size() > most || given.size() > most)
    return std::nullopt;
  return sequence(value);
}

}  // namespace ttcheck::formats
