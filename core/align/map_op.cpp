// SPDX-License-Identifier: Apache-2.0
#include "core/align/map_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/align/op_boxes.hpp"
#include "core/align/reshape.hpp"

namespace ttcheck::align {
namespace {

struct OpRow {
  std::string_view name;
  OpKind kind;
  std::size_t least, most;  ///< arguments
};

constexpr std::array kOps = {
    OpRow{"same", OpKind::same, 0, 0},
    OpRow{"ignore", OpKind::ignore, 0, 0},
    OpRow{"tie", OpKind::tie, 1, 1},
    OpRow{"cast", OpKind::cast, 1, 1},
    OpRow{"dequant", OpKind::dequant, 1, 1},
    OpRow{"add", OpKind::add, 1, 1},
    OpRow{"scale", OpKind::scale, 1, 1},
    OpRow{"concat", OpKind::concat, 1, 1},
    OpRow{"stack", OpKind::stack, 1, 1},
    OpRow{"stack_turned", OpKind::stack_turned, 0, 0},
    OpRow{"stack_glu", OpKind::stack_glu, 0, 0},
    OpRow{"stack_glu_turned", OpKind::stack_glu_turned, 0, 0},
    OpRow{"stack_glu_pairs", OpKind::stack_glu_pairs, 0, 0},
    OpRow{"slice", OpKind::slice, 3, 3},
    OpRow{"reshape", OpKind::reshape, 0, 0},
    OpRow{"glu", OpKind::glu, 0, 2},
    OpRow{"transpose", OpKind::transpose, 0, 0},
    OpRow{"qkv_interleave", OpKind::qkv_interleave, 3, 3},
    OpRow{"qkv_v0", OpKind::qkv_v0, 0, 3},
    OpRow{"qkv_v1", OpKind::qkv_v1, 0, 3},
    OpRow{"rope_permute", OpKind::rope_permute, 2, 2},
    OpRow{"conv1d", OpKind::conv1d, 0, 0},
    OpRow{"conv1d_qkv", OpKind::conv1d_qkv, 3, 3},
};

/// How many numbers share a scale: all, those of a row, those of a block.
constexpr auto kSchemes = std::to_array<std::string_view>({"tensor", "channel", "block"});

std::optional<std::int64_t> number(const MapOp& op, std::size_t i, const Numbers& numbers) {
  if (i >= op.arguments.size()) return std::nullopt;
  const std::string& text = op.arguments[i];
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size()) return value;
  const auto named = numbers.find(text);
  return named == numbers.end() ? std::nullopt : std::optional(named->second);
}

std::int64_t axis_of(const MapOp& op, const Numbers& numbers) {
  return number(op, 0, numbers).value_or(-1);
}

std::optional<double> decimal(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

bool changes_values(const MapOp& op) { return op.kind == OpKind::add || op.kind == OpKind::scale; }

/// Adam's second moment goes with the square of a factor, there and back. REQUIRES an op that
/// changes values.
bool has_inverse(const MapOp& op, double c) {
  if (op.kind == OpKind::add) return std::isfinite(c);
  return std::isnormal(c * c) && std::isnormal(1 / (c * c));
}

/// The heads that an op names; key and value heads are as many as query heads where it names none.
std::optional<HeadCounts> heads_of(const MapOp& op, const Numbers& numbers) {
  const auto query = number(op, 0, numbers);
  const auto rows = number(op, 2, numbers);
  if (!query || !rows || *query <= 0 || *rows <= 0) return std::nullopt;
  const HeadCounts heads{*query, number(op, 1, numbers).value_or(*query), *rows};
  if (heads.group <= 0 || heads.query % heads.group != 0) return std::nullopt;
  return heads;
}

std::optional<BoxMap> turned(std::optional<BoxMap> map) {
  return map ? std::optional(turned_boxes(std::move(*map))) : std::nullopt;
}

/// The heads of three equal parts, which no op needs to name.
std::optional<HeadCounts> in_thirds(const Shape& whole) {
  if (whole.empty() || whole[0] % 3 != 0) return std::nullopt;
  return HeadCounts{1, 1, whole[0] / 3};
}

/// The boxes of an op that fuses query, key and value by the number of their heads.
std::optional<BoxMap> qkv_of(const MapOp& op, const Numbers& numbers, const Shape& whole) {
  const auto heads = op.arguments.empty() ? in_thirds(whole) : heads_of(op, numbers);
  if (!heads) return std::nullopt;
  if (op.kind == OpKind::qkv_interleave) return qkv_interleave_boxes(whole, *heads);
  if (op.kind == OpKind::qkv_v0) return qkv_boxes(whole, 0, *heads);
  return turned(qkv_boxes(whole, std::ssize(whole) - 1, *heads));
}

std::optional<BoxMap> slice_of(const MapOp& op, const Numbers& numbers, const Shape& whole,
                               const Shape& part) {
  const auto begin = number(op, 1, numbers);
  const auto end = number(op, 2, numbers);
  if (!begin || !end) return std::nullopt;
  auto map = slice_boxes(part, axis_of(op, numbers), *begin, *end);
  return map && map->whole == whole ? std::move(map) : std::nullopt;
}

}  // namespace

MapOp parse_op(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::string_view word = text.substr(0, open);
  const auto row = std::ranges::find(kOps, word, &OpRow::name);
  if (row == kOps.end()) {
    std::string known;
    for (const OpRow& op : kOps) known += fmt::format("{}{}", known.empty() ? "" : ", ", op.name);
    throw Error(fmt::format("map op '{}' is not known; known are {}", text, known));
  }
  MapOp op{row->kind, {}};
  if (open != std::string_view::npos) {
    if (text.back() != ')')
      throw Error(fmt::format("map op '{}' has no closing parenthesis", text));
    std::string argument;
    for (const char c : text.substr(open + 1)) {
      if (c == ',' || c == ')') {
        if (!argument.empty()) op.arguments.push_back(std::exchange(argument, {}));
      } else if (c != ' ') {
        argument += c;
      }
    }
  }
  if (op.kind == OpKind::glu && op.arguments.size() == 1) {
    throw Error("map op 'glu' takes the names of both halves, or none");
  }
  const bool qkv = op.kind == OpKind::qkv_v0 || op.kind == OpKind::qkv_v1;
  if (qkv && (op.arguments.size() == 1 || op.arguments.size() == 2)) {
    throw Error(
        fmt::format("map op '{}' takes the numbers of heads, of groups and of rows a head, "
                    "or none",
                    row->name));
  }
  if (op.arguments.size() < row->least || op.arguments.size() > row->most) {
    throw Error(fmt::format("map op '{}' takes {} arguments, not {}", row->name, row->most,
                            op.arguments.size()));
  }
  if (op.kind == OpKind::cast && !dtype_of(op)) {
    throw Error(fmt::format("map op '{}' names no dtype", text));
  }
  if (op.kind == OpKind::dequant &&
      std::ranges::find(kSchemes, op.arguments[0]) == kSchemes.end()) {
    throw Error(
        fmt::format("map op '{}' names no scheme; known are {}", text, fmt::join(kSchemes, ", ")));
  }
  if (changes_values(op) && !has_inverse(op, decimal(op.arguments[0]).value_or(1))) {
    throw Error(fmt::format("map op '{}' has no inverse", text));
  }
  return op;
}

std::optional<DType> dtype_of(const MapOp& op) {
  return op.kind == OpKind::cast ? dtype_named(op.arguments.at(0)) : std::nullopt;
}

std::optional<double> real_of(const MapOp& op, const Numbers& numbers) {
  std::optional<double> value = decimal(op.arguments.at(0));
  if (const auto named = number(op, 0, numbers); !value && named) {
    value = static_cast<double>(*named);
  }
  return has_inverse(op, value.value_or(std::numeric_limits<double>::quiet_NaN())) ? value
                                                                                   : std::nullopt;
}

std::vector<std::string> unknown_numbers(const MapOp& op, const Numbers& numbers) {
  std::vector<std::string> unknown;
  const bool words = op.kind == OpKind::glu || op.kind == OpKind::tie || op.kind == OpKind::cast ||
                     op.kind == OpKind::dequant;
  if (words) return unknown;  // not numbers
  if (changes_values(op)) {
    if (!real_of(op, numbers)) unknown = op.arguments;
    return unknown;
  }
  for (std::size_t i = 0; i < op.arguments.size(); ++i) {
    if (!number(op, i, numbers)) unknown.push_back(op.arguments[i]);
  }
  return unknown;
}

std::optional<BoxMap> map_of_whole(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                   std::size_t parts, std::span<const Shape> known) {
  switch (op.kind) {
    case OpKind::ignore:
    case OpKind::tie:
    case OpKind::cast:
    case OpKind::dequant:
    case OpKind::add:
    case OpKind::scale:
      return std::nullopt;
    case OpKind::same:
      return same_boxes(whole);
    case OpKind::concat:
      return concat_boxes(whole, axis_of(op, numbers), parts, known);
    case OpKind::stack:
      return stack_boxes(whole, axis_of(op, numbers), parts);
    case OpKind::stack_turned:
      return turned(stack_boxes(whole, 0, parts));
    case OpKind::stack_glu:
      return stack_glu_boxes(whole, parts, false, false);
    case OpKind::stack_glu_turned:
      return stack_glu_boxes(whole, parts, true, false);
    case OpKind::stack_glu_pairs:
      return stack_glu_boxes(whole, parts, true, true);
    case OpKind::slice:
      return known.size() == 1 ? slice_of(op, numbers, whole, known[0]) : std::nullopt;
    case OpKind::reshape:
      if (known.size() != 1 || element_count(known[0]) != element_count(whole)) return std::nullopt;
      return reshaped(known[0], whole);
    case OpKind::glu:
      return concat_boxes(whole, 0, 2, {});
    case OpKind::transpose:
    case OpKind::conv1d:
      return turned_boxes(same_boxes(whole));
    case OpKind::qkv_interleave:
    case OpKind::qkv_v0:
    case OpKind::conv1d_qkv:
      return qkv_of(op, numbers, whole);
    case OpKind::qkv_v1:
      return qkv_v1_boxes(whole);
    case OpKind::rope_permute:
      return rope_boxes(whole, axis_of(op, numbers), number(op, 1, numbers).value_or(0));
  }
  return std::nullopt;
}

std::optional<BoxMap> map_of_parts(const MapOp& op, const Numbers& numbers, const Shape& whole,
                                   std::span<const Shape> parts) {
  auto map = map_of_whole(op, numbers, whole, parts.size(), parts);
  if (!map || !std::ranges::equal(map->parts, parts)) return std::nullopt;
  return map;
}

}  // namespace ttcheck::align
