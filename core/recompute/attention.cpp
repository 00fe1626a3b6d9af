// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention (Vaswani and others, 2017), in which a group of query heads may
// share a head of keys and values. Of one head, over the keys j that query i may see:
//
//   p_ij = exp(scale q_i k_j - max_i) / sum_i,   out_i = sum_j p_ij v_j
//
// Backward, with g the gradient of out, d_ij = g_i v_j and D_i = sum_j p_ij d_ij:
//
//   dv_j = sum_i p_ij g_i,   dq_i = scale sum_j p_ij (d_ij - D_i) k_j,
//   dk_j = scale sum_i p_ij (d_ij - D_i) q_i
//
// One head of one sequence is held at a time; a row of p, never all of it. Of the output and dq
// some rows may be made alone. Causal attention over more keys than queries aligns their ends, as a
// cache of keys does.

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/recompute/ops.hpp"
#include "core/recompute/product.hpp"

namespace ttcheck::recompute {
namespace {

/// The order of batch, position and head in a tensor: flat, or with a dim for the heads.
enum class Order : std::uint8_t { flat, flat_sequence_first, bshd, bhsd, sbhd };
constexpr std::array kOrders = {Order::flat, Order::flat_sequence_first, Order::bshd, Order::bhsd,
                                Order::sbhd};

struct Grid {
  std::int64_t batch, length, heads, width;
  std::int64_t batch_stride, stride, head_stride;

  std::int64_t at(std::int64_t b, std::int64_t i, std::int64_t h) const {
    return b * batch_stride + i * stride + h * head_stride;
  }
  bool batch_outermost() const { return batch_stride >= length * heads * width; }
};

/// `heads`: of a flat tensor.
std::optional<Grid> grid_of(const Shape& shape, Order order, std::int64_t heads) {
  const bool flat = order == Order::flat || order == Order::flat_sequence_first;
  if (shape.size() != (flat ? 3U : 4U) || element_count(shape) == 0) return std::nullopt;
  if (flat) {
    if (heads < 1 || shape[2] % heads != 0) return std::nullopt;
    const std::int64_t one = shape[2], row = shape[1] * one, width = one / heads;
    if (order == Order::flat) return Grid{shape[0], shape[1], heads, width, row, one, width};
    return Grid{shape[1], shape[0], heads, width, one, row, width};
  }
  const std::int64_t last = shape[3], pair = shape[2] * last, three = shape[1] * pair;
  if (order == Order::bshd) return Grid{shape[0], shape[1], shape[2], last, three, pair, last};
  if (order == Order::bhsd) return Grid{shape[0], shape[2], shape[1], last, three, last, pair};
  return Grid{shape[1], shape[0], shape[2], last, pair, three, last};
}

/// A tensor and where its heads are.
struct Placed {
  const Operand* values;
  Grid grid;

  /// All positions of one head of one sequence, one after the other.
  std::vector<double> head(std::int64_t b, std::int64_t h) const {
    const auto size = static_cast<std::size_t>(grid.width);
    std::vector<double> all(static_cast<std::size_t>(grid.length) * size);
    if (grid.stride == grid.width) {
      values->read(grid.at(b, 0, h), all);
      return all;
    }
    for (std::int64_t i = 0; i < grid.length; ++i) {
      values->read(grid.at(b, i, h),
                   std::span(all).subspan(static_cast<std::size_t>(i) * size, size));
    }
    return all;
  }
};

struct Way {
  Placed query, key, value, gradient;
  Grid target;  ///< of what is wanted
  bool causal;
  double scale;
};

std::span<const double> row_at(std::span<const double> all, std::int64_t n, std::int64_t width) {
  return all.subspan(static_cast<std::size_t>(n * width), static_cast<std::size_t>(width));
}

std::span<double> row_at(std::span<double> all, std::int64_t n, std::int64_t width) {
  return all.subspan(static_cast<std::size_t>(n * width), static_cast<std::size_t>(width));
}

/// One query head of one sequence with what it meets, and what comes of it.
struct Head {
  const Way& way;
  std::span<const double> q, k, v, g;  ///< g: empty for forward
  std::vector<double> p, d;            ///< a row

  Head(const Way& how, std::span<const double> query, std::span<const double> key,
       std::span<const double> value, std::span<const double> gradient)
      : way(how), q(query), k(key), v(value), g(gradient) {
    p.resize(static_cast<std::size_t>(way.key.grid.length));
    d.resize(p.size());
  }

  /// Fills p for query i; the number of keys that it sees.
  std::int64_t weigh(std::int64_t i) {
    const std::int64_t keys = way.key.grid.length, width = way.key.grid.width;
    const std::int64_t last = i + keys - way.query.grid.length;
    const std::int64_t seen = way.causal ? std::clamp<std::int64_t>(last + 1, 0, keys) : keys;
    double largest = -std::numeric_limits<double>::infinity();
    const auto own = row_at(q, i, width);
    for (std::int64_t j = 0; j < seen; ++j) {
      double& score = p[static_cast<std::size_t>(j)];
      score = way.scale * dot(own, row_at(k, j, width));
      largest = std::max(largest, score);
    }
    double sum = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      double& score = p[static_cast<std::size_t>(j)];
      score = std::exp(score - largest);
      sum += score;
    }
    for (std::int64_t j = 0; j < seen; ++j) p[static_cast<std::size_t>(j)] /= sum;
    return seen;
  }

  /// After weigh: fills d with the gradients of the scores.
  void slopes(std::int64_t i, std::int64_t seen) {
    const std::int64_t width = way.value.grid.width;
    double along = 0;
    for (std::int64_t j = 0; j < seen; ++j) {
      const auto at = static_cast<std::size_t>(j);
      d[at] = dot(row_at(g, i, width), row_at(v, j, width));
      along += p[at] * d[at];
    }
    for (std::int64_t j = 0; j < seen; ++j) {
      const auto at = static_cast<std::size_t>(j);
      d[at] = way.scale * p[at] * (d[at] - along);
    }
  }

  /// Adds what queries [from, to) of this head give to `out`: their rows for the output and dq,
  /// rows of keys for dk and dv.
  void add(const Target& target, std::int64_t from, std::int64_t to, std::span<double> out) {
    const bool output = target.part == Target::Part::output;
    const std::int64_t width = way.key.grid.width, wide = way.value.grid.width;
    for (std::int64_t i = from; i < to; ++i) {
      const std::int64_t seen = weigh(i);
      if (!output) slopes(i, seen);
      for (std::int64_t j = 0; j < seen; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (output) {
          add_multiple(p[at], row_at(v, j, wide), row_at(out, i - from, wide));
        } else if (target.slot == 0) {
          add_multiple(d[at], row_at(k, j, width), row_at(out, i - from, width));
        } else if (target.slot == 1) {
          add_multiple(d[at], row_at(q, i, width), row_at(out, j, width));
        } else {
          add_multiple(p[at], row_at(g, i, wide), row_at(out, j, wide));
        }
      }
    }
  }
};

bool is_by_query(const Target& target) {
  return target.part == Target::Part::output || target.slot == 0;
}

/// Queries of one sequence: all of them, unless rows of the target are theirs.
struct Queries {
  std::int64_t batch, from, to;
};

/// All that one head of keys and values takes part in, written to `out`, which holds the target
/// from element `begin` on.
void fill_group(const Way& way, const Target& target, const Queries& queries, std::int64_t shared,
                std::int64_t begin, std::span<double> out) {
  const bool by_query = is_by_query(target);
  const Grid& grid = way.target;
  const std::int64_t b = queries.batch;
  const std::int64_t rows = by_query ? queries.to - queries.from : grid.length;
  const std::int64_t group = way.query.grid.heads / way.key.grid.heads;
  const std::vector<double> k = way.key.head(b, shared), v = way.value.head(b, shared);
  std::vector<double> made(static_cast<std::size_t>(rows * grid.width));
  const auto write = [&](std::int64_t head) {
    for (std::int64_t i = 0; i < rows; ++i) {
      std::ranges::copy(row_at(std::span<const double>(made), i, grid.width),
                        out.begin() + (grid.at(b, queries.from + i, head) - begin));
    }
    std::ranges::fill(made, 0.0);
  };
  for (std::int64_t head = shared * group; head < (shared + 1) * group; ++head) {
    const std::vector<double> q = way.query.head(b, head);
    std::vector<double> g;
    if (target.part != Target::Part::output) g = way.gradient.head(b, head);
    Head(way, q, k, v, g).add(target, queries.from, queries.to, made);
    if (by_query) write(head);
  }
  if (!by_query) write(shared);
}

/// Row by row where a query's heads lie together and rows do not depend on each other; sequence by
/// sequence where these lie apart; else all at once.
std::optional<Formula> formula_of(const Way& way, const Target& target) {
  const Grid& grid = way.target;
  const std::int64_t row = grid.heads * grid.width, sequence = grid.length * row;
  const bool apart = grid.batch_outermost();
  const bool rows = is_by_query(target) && grid.stride == row;
  constexpr std::int64_t kQueries = 64;
  Formula formula;
  formula.granule = rows ? row : apart ? sequence : sequence * grid.batch;
  formula.preferred = rows ? row * std::min(kQueries, grid.length) : formula.granule;
  if (formula.preferred > kMostHeld) return std::nullopt;
  const auto passes = static_cast<double>(way.query.grid.heads) / static_cast<double>(grid.heads);
  formula.cost = (target.part == Target::Part::output ? 2 : 4) * passes *
                 static_cast<double>(std::max(way.key.grid.length, way.query.grid.length));
  formula.length = static_cast<double>(way.key.grid.length);
  formula.fill = [way, target, row, sequence, rows](std::int64_t begin, std::span<double> out) {
    const std::int64_t end = begin + static_cast<std::int64_t>(out.size());
    for (std::int64_t b = begin / sequence; b * sequence < end; ++b) {
      Queries queries{b, 0, way.query.grid.length};
      if (rows) {
        queries.from = std::max<std::int64_t>(begin - b * sequence, 0) / row;
        queries.to = std::min(end - b * sequence, sequence) / row;
      }
      for (std::int64_t h = 0; h < way.key.grid.heads; ++h) {
        fill_group(way, target, queries, h, begin, out);
      }
    }
  };
  return formula;
}

bool agree(const Way& way) {
  const Grid &q = way.query.grid, &k = way.key.grid, &v = way.value.grid;
  if (q.batch != k.batch || k.batch != v.batch || k.length != v.length || k.heads != v.heads) {
    return false;
  }
  return q.heads % k.heads == 0 && q.width == k.width;
}

bool is_grid_of(const Grid& grid, const Grid& positions, std::int64_t width) {
  return grid.batch == positions.batch && grid.length == positions.length &&
         grid.heads == positions.heads && grid.width == width;
}

/// q, k and v in one order, the output (and its gradient) in perhaps another.
std::vector<Way> ways_of(const Call& call, const Shape& made, const Operand* gradient) {
  const Operand *q = call.argument(0), *k = call.argument(1), *v = call.argument(2);
  if (q == nullptr || k == nullptr || v == nullptr) return {};
  if (call.attributes.number("dropout").value_or(0) > 0) return {};
  const std::int64_t heads = call.attributes.extent("heads").value_or(0);
  const std::int64_t shared = call.attributes.extent("kv_heads").value_or(heads);
  const auto causal = call.attributes.flag("causal");
  std::vector<Way> ways;
  for (const Order in : kOrders) {
    const auto query = grid_of(q->shape(), in, heads), key = grid_of(k->shape(), in, shared),
               value = grid_of(v->shape(), in, shared);
    if (!query || !key || !value) continue;
    for (const Order out : kOrders) {
      const auto grid = grid_of(made, out, query->heads);
      if (!grid || !is_grid_of(*grid, *query, value->width)) continue;
      const double scale = call.attributes.number("scale").value_or(
          1 / std::sqrt(static_cast<double>(query->width)));
      for (const bool how : {true, false}) {
        if (causal && *causal != how) continue;
        const Way way{{q, *query}, {k, *key}, {v, *value}, {gradient, *grid}, *grid, how, scale};
        if (agree(way)) ways.push_back(way);
      }
    }
  }
  return ways;
}

}  // namespace

Formulas attention_forward(const Call& call, const Target& target) {
  if (target.slot != 0) return {};
  Formulas formulas;
  for (const Way& way : ways_of(call, target.shape, nullptr)) {
    if (auto formula = formula_of(way, target)) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

Formulas attention_backward(const Call& call, const Target& target) {
  const Operand* const g = call.gradient(0);
  const Operand* const wanted = call.argument(target.slot);
  const bool fits = g != nullptr && wanted != nullptr && wanted->shape() == target.shape &&
                    target.part == Target::Part::argument && target.slot < 3;
  if (!fits) return {};
  Formulas formulas;
  for (Way& way : ways_of(call, g->shape(), g)) {
    const std::array<const Placed*, 3> sides = {&way.query, &way.key, &way.value};
    way.target = sides[target.slot]->grid;
    if (auto formula = formula_of(way, target)) formulas.push_back(std::move(*formula));
  }
  return formulas;
}

}  // namespace ttcheck::recompute
