// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/table_values.hpp"

#include "formats/dcp/table.hpp"
#include "formats/objects/known.hpp"

namespace ttcheck::formats {

bool is_class(Value value, std::string_view name) {
  const Global* made = value.is(NodeKind::object) ? class_of(value) : nullptr;
  return made != nullptr && made->name == name;
}

bool read_extents(Value value, Extents& out) {
  const Value items = is_class(value, "Size") ? value.args()[0] : value;
  if (!items.is(NodeKind::tuple) && !items.is(NodeKind::list)) return false;
  const std::span<const NodeId> numbers = items.children();
  if (numbers.size() > kMaxDcpDims) return false;
  out.resize(numbers.size());
  for (std::size_t d = 0; d < out.size(); ++d) {
    const auto number = items.pickle().at(numbers[d]).integer();
    if (!number || *number < 0) return false;
    out[d] = *number;
  }
  return true;
}

std::optional<Extents> extents_of(Value value) {
  std::optional<Extents> extents(std::in_place);
  if (!read_extents(value, *extents)) extents.reset();
  return extents;
}

}  // namespace ttcheck::formats
