// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <optional>
#include <vector>

#include "core/recompute/ops.hpp"

// Rotary embedding (Su and others, 2021): of each head, channels i and i + n/2 (GPT-NeoX, Llama) or
// 2i and 2i + 1 (GPT-J, Megatron's interleaved) turn by the angle position x theta^(-2i/n).
// Backward turns by the negative angle. q, k and v come as one tensor, (q|k|v) along the last dim,
// or apart; v passes as it is. Along which dim positions run the reference tells.

namespace ttcheck::recompute {
namespace {

struct Heads {
  std::int64_t query, key, width;  ///< counts, and channels of one

  std::int64_t fused() const { return (query + 2 * key) * width; }
};

/// One part of the channels of a row: where it stands and whether it turns.
struct Part {
  std::int64_t offset, width;
  bool turns;
};

struct Way {
  std::int64_t inner, extent;  ///< position of a row: row / inner % extent
  bool interleaved;
  std::int64_t head, rotary;  ///< channels of a head, and those that turn
  double theta;
  const Operand* positions;  ///< null: 0, 1, 2 ..

  double position(std::int64_t row) const {
    const std::int64_t at = row / inner % extent;
    return positions == nullptr ? static_cast<double>(at)
                                : positions->held()[static_cast<std::size_t>(at)];
  }

  /// Turns the heads of one row in place; `sign` -1 for backward.
  void turn(std::span<double> row, double at, double sign) const {
    const std::int64_t half = rotary / 2;
    for (std::int64_t i = 0; i < half; ++i) {
      const double angle =
          at * std::pow(theta, -2.0 * static_cast<double>(i) / static_cast<double>(rotary));
      const double cosine = std::cos(angle), sine = sign * std::sin(angle);
      const auto a = static_cast<std::size_t>(interleaved ? 2 * i : i);
      const auto b = static_cast<std::size_t>(interleaved ? 2 * i + 1 : i + half);
      for (std::size_t from = 0; from + static_cast<std::size_t>(head) <= row.size();
           from += static_cast<std::size_t>(head)) {
        const double x = row[from + a], y = row[from + b];
        row[from + a] = x * cosine - y * sine;
        row[from + b] = y * cosine + x * sine;
      }
    }
  }
};

/// Positions that were given: an argument of integers, one for each place.
const Operand* positions_of(const Call& call) {
  for (const Operand* one : call.arguments) {
    if (one != nullptr && is_exact(one->dtype()) && !one->held().empty()) return one;
  }
  return nullptr;
}

std::vector<Way> ways_of(const Call& call, const Shape& shape, std::int64_t head) {
  std::vector<Way> ways;
  if (head < 2 || shape.size() < 2 || shape.back() % head != 0) return ways;
  const std::int64_t rotary = call.attributes.extent("rotary_dim").value_or(head);
  if (rotary % 2 != 0 || rotary > head) return ways;
  const double theta = call.attributes.number("theta").value_or(10000);
  if (!(theta > 0)) return ways;
  const auto stated = call.attributes.flag("interleaved");
  const Operand* const given = positions_of(call);
  const std::size_t leading = shape.size() - 1;
  std::vector<std::size_t> dims = {0};
  if (leading == 2) dims = {1, 0};
  if (leading >= 3) dims = {1, 2, 0};
  for (const bool interleaved : {false, true}) {
    if (stated && *stated != interleaved) continue;
    for (const std::size_t dim : dims) {
      const std::int64_t extent = shape[dim];
      std::int64_t inner = 1;
      for (std::size_t d = dim + 1; d < leading; ++d) inner *= shape[d];
      if (extent < 1 || inner < 1) continue;
      const Operand* const held = given != nullptr && given->count() == extent ? given : nullptr;
      ways.push_back({inner, extent, interleaved, head, rotary, theta, held});
    }
  }
  return ways;
}

std::optional<Heads> heads_of(const Call& call) {
  const auto query = call.attributes.extent("heads");
  const auto width = call.attributes.extent("head_dim");
  if (!query || !width || *query > kMostHeld || *width > kMostHeld) return std::nullopt;
  const Heads heads{*query, call.attributes.extent("kv_heads").value_or(*query), *width};
  if (heads.key > heads.query || heads.fused() > kMostHeld) return std::nullopt;
  return heads;
}

/// Channels of a head, where the heads do not come fused.
std::int64_t head_width(const Call& call, const Shape& shape, std::size_t slot) {
  if (const auto width = call.attributes.extent("head_dim")) return *width;
  if (shape.size() >= 4) return shape.back();
  const auto query = call.attributes.extent("heads");
  const auto count =
      slot == 1 && call.attributes.extent("kv_heads") ? call.attributes.extent("kv_heads") : query;
  return count && !shape.empty() && shape.back() % *count == 0 ? shape.back() / *count : 0;
}

Part part_of(const Heads& heads, std::size_t slot) {
  const std::int64_t q = heads.query * heads.width, k = heads.key * heads.width;
  if (slot == 0) return {0, q, true};
  if (slot == 1) return {q, k, true};
  return {q + k, k, false};
}

/// REQUIRES that `a` has a dim.
bool same_leading(const Shape& a, const Shape& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin());
}

/// Round-off of the angles, which are as large as the positions.
Formulas as_formulas(const std::vector<Way>& ways, std::int64_t width, auto&& make) {
  Formulas formulas;
  for (const Way& way : ways) {
    auto formula = by_rows(width, 64, make(way));
    if (!formula) continue;
    const auto extent = static_cast<double>(way.extent);
    formula->length = extent * extent;
    formulas.push_back(std::move(*formula));
  }
  return formulas;
}

Formulas pass(const Operand* from) {
  return {elementwise(
      1, [from](std::int64_t begin, std::span<double> out) { from->read(begin, out); })};
}

/// A tensor of the target's own shape, turned.
Formulas turned(const Call& call, const Operand* from, const Target& target, double sign) {
  if (from == nullptr || from->shape() != target.shape) return {};
  const std::int64_t width = target.width();
  return as_formulas(ways_of(call, target.shape, head_width(call, target.shape, target.slot)),
                     width, [=](const Way& way) {
                       return [=](std::int64_t begin, std::span<double> out) {
                         const auto size = static_cast<std::size_t>(width);
                         from->read(begin, out);
                         for (std::size_t n = 0; n < out.size() / size; ++n) {
                           const std::int64_t row = begin / width + static_cast<std::int64_t>(n);
                           way.turn(out.subspan(n * size, size), way.position(row), sign);
                         }
                       };
                     });
}

}  // namespace

Formulas rope_forward(const Call& call, const Target& target) {
  const Operand* const first = call.argument(0);
  const auto heads = heads_of(call);
  const bool fused = first != nullptr && heads && first->width() == heads->fused() &&
                     same_leading(first->shape(), target.shape);
  if (!fused || first->width() == target.width()) {
    const Operand* const own = call.argument(target.slot);
    if (target.slot < 2) return turned(call, own, target, 1);
    if (own == nullptr || own->shape() != target.shape) return {};
    return pass(own);
  }
  const Part part = part_of(*heads, target.slot);
  if (target.slot > 2 || part.width != target.width()) return {};
  return as_formulas(ways_of(call, target.shape, heads->width), part.width, [=](const Way& way) {
    return [=](std::int64_t begin, std::span<double> out) {
      const auto size = static_cast<std::size_t>(part.width);
      for (std::size_t n = 0; n < out.size() / size; ++n) {
        const std::int64_t row = begin / part.width + static_cast<std::int64_t>(n);
        const std::span<double> to = out.subspan(n * size, size);
        first->read(row * first->width() + part.offset, to);
        if (part.turns) way.turn(to, way.position(row), 1);
      }
    };
  });
}

Formulas rope_backward(const Call& call, const Target& target) {
  if (target.part != Target::Part::argument) return {};
  const auto heads = heads_of(call);
  const bool fused = heads && target.slot == 0 && target.width() == heads->fused() &&
                     call.gradient(1) != nullptr && call.gradient(2) != nullptr;
  if (!fused) {
    const Operand* const g = call.gradient(target.slot);
    if (target.slot < 2) return turned(call, g, target, -1);
    if (g == nullptr || g->shape() != target.shape) return {};
    return pass(g);
  }
  const std::vector<const Operand*> given = {call.gradient(0), call.gradient(1), call.gradient(2)};
  for (std::size_t slot = 0; slot < given.size(); ++slot) {
    if (given[slot] == nullptr || given[slot]->width() != part_of(*heads, slot).width ||
        !same_leading(given[slot]->shape(), target.shape)) {
      return {};
    }
  }
  const std::int64_t width = target.width();
  return as_formulas(ways_of(call, target.shape, heads->width), width,
                     [=, all = *heads](const Way& way) {
                       return [=](std::int64_t begin, std::span<double> out) {
                         const auto size = static_cast<std::size_t>(width);
                         for (std::size_t n = 0; n < out.size() / size; ++n) {
                           const std::int64_t row = begin / width + static_cast<std::int64_t>(n);
                           for (std::size_t slot = 0; slot < given.size(); ++slot) {
                             const Part part = part_of(all, slot);
                             const std::span<double> to =
                                 out.subspan(n * size + static_cast<std::size_t>(part.offset),
                                             static_cast<std::size_t>(part.width));
                             given[slot]->read(row * part.width, to);
                             if (part.turns) way.turn(to, way.position(row), -1);
                           }
                         }
                       };
                     });
}

}  // namespace ttcheck::recompute
