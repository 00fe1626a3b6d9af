// SPDX-License-Identifier: Apache-2.0
// Both forms are brought to one: a list of ranks, and for each axis digits of a position in that
// list. A tensor's dimension is an axis of one digit, with its row-major stride. A layout's axis
// may have been flattened from several dimensions, and then has several digits; a layout may also
// cover a part of its root's ranks alone, so that axes count fewer than are listed (`is_whole`).
// A coordinate is the number that an axis's digits make, each `(position / stride) % size`. An
// axis keeps its given name where the dims grammar can hold it and no axis before has it. A list
// that is empty or has a rank twice, and axes of more positions than there are ranks, are Errors,
// as are sizes below 1. There are at most 2^20 ranks and 16 axes; ranks in a tensor must be
// little-endian integers end to end, and their count is checked before they are read.

#include "formats/torch/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "core/base/checked.hpp"
#include "formats/torch/attribute.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMostAxes = 16;
constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;

using Digits = std::vector<TorchMesh::Digit>;

/// The integers of a one-rank tensor: 4 or 8 bytes each, row-major.
std::vector<std::int64_t> integers_of(const TorchTensor& tensor, const Where& where) {
  const bool wide = tensor.dtype == DType::i64;
  if (!tensor.opaque.empty() || !tensor.piece.cells.empty() ||
      tensor.piece.order != ByteOrder::little || (!wide && tensor.dtype != DType::i32)) {
    throw Error("ranks of a device mesh are no plain integers", where);
  }
  const std::int64_t count = element_count(tensor.shape);
  if (count > kMostRanks) throw Error(fmt::format("device mesh of {} ranks", count), where);
  const std::size_t width = wide ? 8 : 4;
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * width);
  if (count > 0) tensor.piece.source->read(tensor.piece.offset, bytes);
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < bytes.size(); i += width) {
    std::int64_t number = 0;
    std::int32_t narrow = 0;
    if (wide) {
      std::memcpy(&number, &bytes[i], sizeof number);
    } else {
      std::memcpy(&narrow, &bytes[i], sizeof narrow);
      number = narrow;
    }
    numbers.push_back(number);
  }
  return numbers;
}

std::vector<std::int64_t> integers_of(const std::vector<Value>& values) {
  std::vector<std::int64_t> numbers;
  for (const Value& value : values) {
    const auto number = value.integer();
    if (!number) throw Error("device mesh has something other than a number", value.where());
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::int64_t> integers_of(Value value) {
  if (const auto number = value.integer()) return {*number};
  const auto items = short_sequence(value, kMostAxes);
  if (!items) throw Error("device mesh has no axes", value.where());
  return integers_of(*items);
}

Digits digits_of(Value shape, Value stride) {
  const std::vector<std::int64_t> sizes = integers_of(shape);
  const std::vector<std::int64_t> strides = integers_of(stride);
  if (sizes.size() != strides.size()) {
    throw Error("sizes and strides of a device mesh do not match", shape.where());
  }
  Digits digits;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || strides[i] < (sizes[i] > 1 ? 1 : 0)) {
      throw Error(fmt::format("device mesh has {} ranks at stride {}", sizes[i], strides[i]),
                  shape.where());
    }
    digits.push_back({sizes[i], std::max<std::int64_t>(strides[i], 1)});
  }
  return digits;
}

/// The axes of a `_layout`: of its `axes`, or of one shape and stride that list them.
std::vector<Digits> digits_of_layout(Value layout) {
  std::vector<Digits> axes;
  if (const auto list = short_sequence(attribute(layout, "axes"), kMostAxes)) {
    for (const Value& axis : *list) {
      axes.push_back(digits_of(attribute(axis, "shape"), attribute(axis, "stride")));
    }
    return axes;
  }
  const Value shape = attribute(layout, "shape");
  const Value stride = attribute(layout, "stride");
  if (shape.integer()) return {digits_of(shape, stride)};
  const auto sizes = short_sequence(shape, kMostAxes);
  const auto strides = short_sequence(stride, kMostAxes);
  if (!sizes || !strides || sizes->size() != strides->size()) {
    throw Error("device mesh has no layout that is known", layout.where());
  }
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    axes.push_back(digits_of((*sizes)[i], (*strides)[i]));
  }
  return axes;
}

/// A word that a dims line can hold, and that means nothing else there.
bool is_axis_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const auto rest = [&](char c) { return letter(c) || c == '_' || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 64 && letter(name.front()) && name != "mb" &&
         std::ranges::all_of(name, rest);
}

void name_axes(Value mesh, TorchMesh& made) {
  Value names = attribute(mesh, "_mesh_dim_names");
  if (!short_sequence(names, kMostAxes)) names = attribute(mesh, "mesh_dim_names");
  const auto given = short_sequence(names, kMostAxes);
  const std::size_t count = made.digits.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::string name = count == 1 ? "dp" : fmt::format("mesh{}", i);
    if (given && given->size() == count) {
      const std::string_view word = (*given)[i].text().value_or("");
      const bool twice =
          std::ranges::any_of(made.axes, [&](const Axis& a) { return a.name == word; });
      if (is_axis_name(word) && !twice) name = word;
    }
    std::int64_t size = 1;
    for (const TorchMesh::Digit& digit : made.digits[i]) size = checked_mul(size, digit.size);
    made.axes.push_back({std::move(name), size});
  }
}

/// The ranks that the positions stand for.
std::vector<std::int64_t> rank_map(const TorchFile& file, Value mesh) {
  const auto flat = short_sequence(attribute(mesh, "_flatten_rank_map"), kMostRanks);
  if (flat) return integers_of(*flat);
  const Value map = attribute(mesh, "_rank_map");
  if (!TorchFile::is_tensor(map)) throw Error("device mesh does not say its ranks", mesh.where());
  return integers_of(file.tensor(map), map.where());
}

}  // namespace

bool TorchMesh::is_whole() const {
  std::int64_t product = 1;
  for (const Axis& axis : axes) {
    if (axis.size > kMostRanks / product) return false;
    product *= axis.size;
  }
  return product == ranks();
}

std::optional<Coordinates> TorchMesh::coordinates(std::int64_t of) const {
  const auto position = at.find(of);
  if (position == at.end()) return std::nullopt;
  Coordinates found;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t coordinate = 0;
    for (const Digit& digit : digits[i]) {
      coordinate = coordinate * digit.size + position->second / digit.stride % digit.size;
    }
    found[axes[i].name] = coordinate;
  }
  return found;
}

TorchMesh torch_mesh(const TorchFile& file, Value value) {
  TorchMesh made;
  std::vector<std::int64_t> ranks;
  const Value mesh = attribute(value, "mesh");
  if (const Value layout = attribute(value, "_layout")) {
    made.digits = digits_of_layout(layout);
    ranks = rank_map(file, value);
  } else if (TorchFile::is_tensor(mesh)) {
    const TorchTensor tensor = file.tensor(mesh);
    ranks = integers_of(tensor, mesh.where());
    const Extents strides = row_major_strides(tensor.shape);
    if (tensor.shape.size() > kMostAxes) throw Error("device mesh has too many axes", mesh.where());
    for (std::size_t d = 0; d < tensor.shape.size(); ++d) {
      made.digits.push_back({{tensor.shape[d], std::max<std::int64_t>(strides[d], 1)}});
    }
  } else {
    throw Error("is no device mesh that is known", value.where());
  }
  if (ranks.empty()) throw Error("device mesh has no ranks", value.where());
  name_axes(value, made);
  std::int64_t positions = 1;
  for (const Axis& axis : made.axes) {
    if (axis.size > std::ssize(ranks) / positions) {
      throw Error(
          fmt::format("device mesh of {} ranks has an axis of {}, more than there are ranks "
                      "for",
                      ranks.size(), axis.size),
          value.where());
    }
    positions = std::max<std::int64_t>(positions * axis.size, 1);
  }
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!made.at.emplace(ranks[i], static_cast<std::int64_t>(i)).second) {
      throw Error(fmt::format("device mesh has rank {} twice", ranks[i]), value.where());
    }
  }
  made.rank = attribute(value, "_rank").integer();
  return made;
}

}  // namespace ttcheck::formats
