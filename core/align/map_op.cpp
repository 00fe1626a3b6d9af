// Sources of the layouts: Megatron-LM megatron/core/transformer/attention.py (mixed_qkv: [ng,
// (np/ng
// + 2) * hn]) and megatron/legacy/checkpointing.py (fix_query_key_value_ordering: versions 0 and
// 1); transformers models/llama/convert_llama_weights_to_hf.py (permute) and pytorch_utils.py
// (Conv1D).

#include "core/align/map_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/align/reshape.hpp"
#include "core/base/checked.hpp"

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
    OpRow{"qkv_v0", OpKind::qkv_v0, 3, 3},
    OpRow{"qkv_v1", OpKind::qkv_v1, 3, 3},
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

/// Query heads, key and value heads (0: as many), rows of one head.
struct Heads {
  std::int64_t query = 0, group = 0, rows = 0;
};

std::optional<Heads> heads_of(const MapOp& op, const Numbers& numbers) {
  const auto query = number(op, 0, numbers);
  const auto rows = number(op, 2, numbers);
  if (!query || !rows || *query <= 0 || *rows <= 0) return std::nullopt;
  const Heads heads{*query, number(op, 1, numbers).value_or(*query), *rows};
  if (heads.group <= 0 || heads.query % heads.group != 0) return std::nullopt;
  return heads;
}

/// Adds a loop over each axis from `first` on, at the same place on both sides.
void add_other_axes(const Shape& shape, std::size_t first, Link& link) {
  for (std::size_t d = first; d < shape.size(); ++d) link.loops.push_back({shape[d], d, d, 1, 1});
}

Link link_at(std::size_t part, std::size_t rank) {
  return {part, Extents(rank, 0), Extents(rank, 0), {}};
}

/// `lengths` of the parts along `dim`, one behind the other.
BoxMap concatenated(const Shape& whole, std::size_t dim, std::span<const std::int64_t> lengths) {
  BoxMap map{whole, {}, {}};
  std::int64_t at = 0;
  for (std::size_t part = 0; part < lengths.size(); ++part) {
    Shape& shape = map.parts.emplace_back(whole);
    shape[dim] = lengths[part];
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    add_other_axes(shape, 0, link);
    link.whole_start[dim] = at;
    at += lengths[part];
  }
  return map;
}

/// The axis of that number, if there is one.
std::optional<std::size_t> axis_in(const Shape& shape, std::int64_t dim) {
  if (dim < 0 || dim >= std::ssize(shape)) return std::nullopt;
  return static_cast<std::size_t>(dim);
}

/// Parts of these lengths along `dim`, if they fill it.
std::optional<BoxMap> concat(const Shape& whole, std::int64_t dim,
                             std::span<const std::int64_t> lengths) {
  const auto axis = axis_in(whole, dim);
  if (!axis) return std::nullopt;
  std::int64_t total = 0;
  for (const std::int64_t length : lengths) {
    if (length < 0) return std::nullopt;
    total = checked_add(total, length);
  }
  if (total != whole[*axis]) return std::nullopt;
  return concatenated(whole, *axis, lengths);
}

/// Equal parts along `dim`, or parts as long as `known` ones.
std::optional<BoxMap> concat(const Shape& whole, std::int64_t dim, std::size_t parts,
                             std::span<const Shape> known) {
  const auto axis = axis_in(whole, dim);
  if (!axis || parts == 0) return std::nullopt;
  if (known.empty()) {
    const std::int64_t each = whole[*axis] / static_cast<std::int64_t>(parts);
    return concat(whole, dim, std::vector<std::int64_t>(parts, each));
  }
  std::vector<std::int64_t> lengths;
  for (const Shape& part : known) {
    if (*axis >= part.size()) return std::nullopt;
    lengths.push_back(part[*axis]);
  }
  if (lengths.size() != parts) return std::nullopt;
  return concat(whole, dim, lengths);
}

/// The rows that a slice keeps of an axis.
struct Rows {
  std::size_t axis = 0;
  std::int64_t begin = 0, end = 0;
};

std::optional<Rows> rows_of(const MapOp& op, const Numbers& numbers, const Shape& part) {
  const auto axis = axis_in(part, axis_of(op, numbers));
  const auto begin = number(op, 1, numbers);
  const auto end = number(op, 2, numbers);
  if (!axis || !begin || !end) return std::nullopt;
  if (*begin < 0 || *begin > *end || *end > part[*axis]) return std::nullopt;
  return Rows{*axis, *begin, *end};
}

BoxMap sliced(const Shape& part, const Rows& rows) {
  BoxMap map{part, {part}, {link_at(0, part.size())}};
  map.whole[rows.axis] = rows.end - rows.begin;
  add_other_axes(map.whole, 0, map.links[0]);
  map.links[0].part_start[rows.axis] = rows.begin;
  Box kept = whole(part);
  kept.lo[rows.axis] = rows.begin;
  kept.size[rows.axis] = rows.end - rows.begin;
  map.outside = subtract(whole(part), kept);
  return map;
}

std::optional<BoxMap> stack(const Shape& whole, std::int64_t dim, std::size_t parts) {
  const auto axis = axis_in(whole, dim);
  if (!axis || whole[*axis] != static_cast<std::int64_t>(parts)) return std::nullopt;
  Shape shape = whole;
  shape.erase(shape.begin() + dim);
  BoxMap map{whole, std::vector<Shape>(parts, shape), {}};
  for (std::size_t part = 0; part < parts; ++part) {
    Link& link = map.links.emplace_back();
    link.part = part;
    link.part_start.assign(shape.size(), 0);
    link.whole_start.assign(whole.size(), 0);
    link.whole_start[*axis] = static_cast<std::int64_t>(part);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      link.loops.push_back({shape[d], d, d < *axis ? d : d + 1, 1, 1});
    }
  }
  return map;
}

/// Gates and ups of experts, `2 * experts` parts: [2f, h] each, or [h, 2f] when `turned`; in
/// halves, or one by one as `pairs`.
std::optional<BoxMap> stack_glu(const Shape& whole, std::size_t parts, bool turned, bool pairs) {
  if (whole.size() < 2 || whole.size() > 3 || parts % 2 != 0) return std::nullopt;
  const std::size_t wide = turned ? whole.size() - 1 : 1;  // the axis of gate and up
  const std::int64_t rows = whole[wide] / 2;
  if (whole[0] != static_cast<std::int64_t>(parts / 2) || whole[wide] % 2 != 0) return std::nullopt;
  Shape shape = {rows};
  if (whole.size() == 3) shape.push_back(whole[3 - wide]);
  BoxMap map{whole, std::vector<Shape>(parts, shape), {}};
  for (std::size_t part = 0; part < parts; ++part) {
    const auto half = static_cast<std::int64_t>(part % 2);
    Link& link = map.links.emplace_back();
    link.part = part;
    link.part_start.assign(shape.size(), 0);
    link.whole_start.assign(whole.size(), 0);
    link.whole_start[0] = static_cast<std::int64_t>(part / 2);
    link.whole_start[wide] = pairs ? half : half * rows;
    link.loops.push_back({rows, 0, wide, 1, pairs ? 2 : 1});
    if (whole.size() == 3) link.loops.push_back({shape[1], 1, 3 - wide, 1, 1});
  }
  return map;
}

std::optional<BoxMap> qkv_interleave(const Shape& whole, const Heads& heads) {
  const std::int64_t query = checked_mul(heads.query / heads.group, heads.rows);
  const std::int64_t group = checked_add(query, checked_mul(std::int64_t{2}, heads.rows));
  if (whole.empty() || whole[0] != checked_mul(heads.group, group)) return std::nullopt;
  BoxMap map{whole, {}, {}};
  std::int64_t at = 0;
  for (std::size_t part = 0; part < 3; ++part) {
    const std::int64_t rows = part == 0 ? query : heads.rows;
    Shape& shape = map.parts.emplace_back(whole);
    shape[0] = rows * heads.group;
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    link.whole_start[0] = at;
    link.loops.push_back({rows, 0, 0, 1, 1});
    link.loops.push_back({heads.group, 0, 0, rows, group});
    add_other_axes(whole, 1, link);
    at += rows;
  }
  return map;
}

std::vector<std::int64_t> qkv_rows(const Heads& heads) {
  const std::int64_t query = checked_mul(heads.query, heads.rows);
  const std::int64_t key = checked_mul(heads.group, heads.rows);
  return {query, key, key};
}

std::optional<BoxMap> qkv_v1(const Shape& whole) {
  if (whole.empty() || whole[0] % 3 != 0) return std::nullopt;
  BoxMap map{whole, {}, {}};
  for (std::size_t part = 0; part < 3; ++part) {
    Shape& shape = map.parts.emplace_back(whole);
    shape[0] = whole[0] / 3;
    Link& link = map.links.emplace_back(link_at(part, whole.size()));
    link.whole_start[0] = static_cast<std::int64_t>(part);
    link.loops.push_back({shape[0], 0, 0, 1, 3});
    add_other_axes(whole, 1, link);
  }
  return map;
}

std::optional<BoxMap> rope_permute(const Shape& whole, std::int64_t heads, std::int64_t rows) {
  if (whole.empty() || heads <= 0 || rows <= 0 || rows % 2 != 0) return std::nullopt;
  if (whole[0] != checked_mul(heads, rows)) return std::nullopt;
  const std::int64_t half = rows / 2;
  BoxMap map{whole, {whole}, {}};
  Link& link = map.links.emplace_back(link_at(0, whole.size()));
  link.loops.push_back({half, 0, 0, 1, 2});
  link.loops.push_back({2, 0, 0, half, 1});
  link.loops.push_back({heads, 0, 0, rows, rows});
  add_other_axes(whole, 1, link);
  return map;
}

/// Each part turned; of one axis it stays as it is. REQUIRES links that begin where their parts do.
BoxMap turned(BoxMap map) {
  if (map.parts.empty() || map.parts[0].size() != 2) return map;
  for (Shape& part : map.parts) std::swap(part[0], part[1]);
  for (Link& link : map.links) {
    for (Loop& loop : link.loops) loop.part_axis = 1 - loop.part_axis;
  }
  return map;
}

std::optional<BoxMap> turned(std::optional<BoxMap> map) {
  return map ? std::optional(turned(std::move(*map))) : std::nullopt;
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
  const auto heads = [&] { return heads_of(op, numbers); };
  switch (op.kind) {
    case OpKind::ignore:
    case OpKind::tie:
    case OpKind::cast:
    case OpKind::dequant:
    case OpKind::add:
    case OpKind::scale:
      return std::nullopt;
    case OpKind::same: {
      BoxMap map{whole, {whole}, {link_at(0, whole.size())}};
      add_other_axes(whole, 0, map.links[0]);
      return map;
    }
    case OpKind::concat:
      return concat(whole, axis_of(op, numbers), parts, known);
    case OpKind::stack:
      return stack(whole, axis_of(op, numbers), parts);
    case OpKind::stack_turned:
      return turned(stack(whole, 0, parts));
    case OpKind::stack_glu:
      return stack_glu(whole, parts, false, false);
    case OpKind::stack_glu_turned:
      return stack_glu(whole, parts, true, false);
    case OpKind::stack_glu_pairs:
      return stack_glu(whole, parts, true, true);
    case OpKind::slice: {
      const auto rows = known.size() == 1 ? rows_of(op, numbers, known[0]) : std::nullopt;
      if (!rows) return std::nullopt;
      BoxMap map = sliced(known[0], *rows);
      return map.whole == whole ? std::optional(std::move(map)) : std::nullopt;
    }
    case OpKind::reshape:
      if (known.size() != 1 || element_count(known[0]) != element_count(whole)) return std::nullopt;
      return reshaped(known[0], whole);
    case OpKind::glu:
      return concat(whole, 0, 2, {});
    case OpKind::transpose:
    case OpKind::conv1d:
      return turned(map_of_whole({OpKind::same, {}}, numbers, whole, 1));
    case OpKind::qkv_interleave: {
      const auto found = heads();
      return found ? qkv_interleave(whole, *found) : std::nullopt;
    }
    case OpKind::qkv_v0: {
      const auto found = heads();
      return found ? concat(whole, 0, qkv_rows(*found)) : std::nullopt;
    }
    case OpKind::qkv_v1:
      return qkv_v1(whole);
    case OpKind::rope_permute:
      return rope_permute(whole, axis_of(op, numbers), number(op, 1, numbers).value_or(0));
    case OpKind::conv1d_qkv: {
      const auto found = heads();
      const std::int64_t last = std::ssize(whole) - 1;
      return found ? turned(concat(whole, last, qkv_rows(*found))) : std::nullopt;
    }
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
