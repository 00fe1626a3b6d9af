// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostDims = 64;

Shape shape_of(Value value) {
  const auto items = sequence(value);
  if (!items || items->size() > kMostDims) throw Error("expected a shape", value.where());
  Shape shape;
  for (const Value& item : *items) {
    const auto extent = item.integer();
    if (!extent || *extent < 0) throw Error("expected a shape of counts", value.where());
    shape.push_back(*extent);
  }
  (void)element_count(shape);
  return shape;
}

std::vector<Candidate> shapes_of(Value dict, WalkBudget& budget) {
  std::vector<Candidate> parameters;
  for (const auto& [key, value] : mapping(dict).value_or(std::vector<KeyValue>())) {
    const auto name = key.text();
    if (!name) throw Error("expected a parameter's name", dict.where());
    if (!budget.look_at(value))
      throw Error::unable("limit reached: too many shapes", value.where());
    parameters.push_back({std::string(*name), shape_of(value)});
  }
  return parameters;
}

}  // namespace

Value item_of(Value dict, std::string_view key) {
  if (dict.is(NodeKind::dict)) return dict.find(key);
  Value found;
  for (const auto& [name, value] : mapping(dict).value_or(std::vector<KeyValue>())) {
    if (name.text() == key) found = value;
  }
  return found;
}

std::map<std::string, Shape> DeepspeedParameters::shapes() const {
  std::map<std::string, Shape> found;
  for (const Candidate& parameter : frozen) found.emplace(parameter.name, parameter.shape);
  for (const auto& group : groups) {
    for (const Candidate& parameter : group) found.emplace(parameter.name, parameter.shape);
  }
  return found;
}

DeepspeedParameters parameters_of(Value model_states, WalkBudget& budget) {
  DeepspeedParameters found;
  const Value shapes = item_of(model_states, "param_shapes");
  if (mapping(shapes)) {
    found.groups.push_back(shapes_of(shapes, budget));
  } else {
    for (const Value& group : sequence(shapes).value_or(std::vector<Value>())) {
      if (!budget.look_at(group))
        throw Error::unable("limit reached: too many groups", group.where());
      found.groups.push_back(shapes_of(group, budget));
    }
  }
  found.frozen = shapes_of(item_of(model_states, "frozen_param_shapes"), budget);
  for (const Value& name :
       sequence(item_of(model_states, "buffer_names")).value_or(std::vector<Value>())) {
    if (const auto text = name.text()) found.buffers.emplace(*text);
  }
  const Value shared = item_of(model_states, "shared_params");
  for (const auto& [alias, name] : mapping(shared).value_or(std::vector<KeyValue>())) {
    const auto from = alias.text();
    const auto to = name.text();
    if (from && to) found.shared.emplace_back(*from, *to);
  }
  return found;
}

std::vector<std::int64_t> counts_of(Value dict, std::string_view key, std::size_t groups) {
  const Value value = item_of(dict, key);
  if (const auto one = value.integer()) {
    return std::vector<std::int64_t>(*one < 0 ? 0 : groups, *one);
  }
  std::vector<std::int64_t> counts;
  for (const Value& item : sequence(value).value_or(std::vector<Value>())) {
    const auto count = item.integer();
    if (!count || *count < 0) return {};
    counts.push_back(*count);
  }
  if (counts.size() != groups) return {};
  return counts;
}

TorchTensor row_of_elements(const TorchFile& file, Value value) {
  if (!value || !TorchFile::is_tensor(value)) throw Error("expected a tensor", value.where());
  TorchTensor tensor = file.tensor(value);
  const bool plain = tensor.opaque.empty() && tensor.shape.size() == 1 &&
                     tensor.piece.cells.empty() && bits(tensor.dtype) % 8 == 0;
  if (!plain) {
    throw Error(fmt::format("expected a flat row of elements, found {}",
                            tensor.opaque.empty() ? "another tensor" : tensor.opaque),
                value.where());
  }
  return tensor;
}

std::optional<double> number_of(const TorchFile& file, Value value) {
  if (const auto number = value.number()) return number;
  if (!value || !TorchFile::is_tensor(value)) return std::nullopt;
  const TorchTensor tensor = file.tensor(value);
  const bool whole_bytes = bits(tensor.dtype) % 8 == 0 && bits(tensor.dtype) <= 64;
  if (!tensor.opaque.empty() || !whole_bytes || is_complex(tensor.dtype)) return std::nullopt;
  if (element_count(tensor.shape) != 1) return std::nullopt;
  std::array<std::byte, 8> bytes{};
  const auto used = std::span(bytes).first(static_cast<std::size_t>(bits(tensor.dtype)) / 8);
  std::uint64_t offset = tensor.piece.offset;
  if (!tensor.piece.cells.empty()) {
    const auto start = checked_cast<std::uint64_t>(tensor.piece.cells.front().start);
    offset = checked_add(offset, checked_mul<std::uint64_t>(start, used.size()));
  }
  tensor.piece.source->read(offset, used);
  if (tensor.piece.order == ByteOrder::big) std::ranges::reverse(used);
  std::uint64_t code = 0;
  for (std::size_t i = used.size(); i-- > 0;) {
    code = code << 8 | std::to_integer<std::uint64_t>(used[i]);
  }
  return value_of(tensor.dtype, code);
}

}  // namespace ttcheck::formats
