// SPDX-License-Identifier: Apache-2.0
// Both directions go the same way. A link's loops are split in those that run densely along one
// axis of the target, which are the dimensions of a box there, and the others, whose indices are
// gone through one by one. For each of these boxes, a source cell that meets it becomes a cell of
// the target: the loop along a target axis has a step along a source axis that no other such loop
// runs on, so the part that lies in the cell is an interval of the loop's indices, and the cell's
// stride is multiplied by the step.

#include "core/align/box_map.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/require.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kMaxBoxes = std::size_t{1} << 18;
constexpr std::size_t kMaxTries = std::size_t{1} << 24;  ///< of a box on a cell

/// A link seen from one side.
struct Way {
  struct Step {
    std::int64_t size = 1;
    std::size_t from = kNoAxis, to = kNoAxis;
    std::int64_t from_step = 1, to_step = 1;
  };
  Extents from, to;  ///< starts
  std::vector<Step> steps;
};

Way into_whole(const Link& link) {
  Way way{link.part_start, link.whole_start, {}};
  for (const Loop& loop : link.loops) {
    way.steps.push_back(
        {loop.size, loop.part_axis, loop.whole_axis, loop.part_step, loop.whole_step});
  }
  return way;
}

Way into_part(const Link& link) {
  Way way{link.whole_start, link.part_start, {}};
  for (const Loop& loop : link.loops) {
    way.steps.push_back(
        {loop.size, loop.whole_axis, loop.part_axis, loop.whole_step, loop.part_step});
  }
  return way;
}

/// A box of the target; along its axes the source's run with steps.
struct Strided {
  Box to;
  Extents from;                    ///< source index at the box's first element
  std::vector<std::size_t> axis;   ///< of the source, by target axis; kNoAxis: none
  std::vector<std::int64_t> step;  ///< along it
};

/// The boxes of a way, the scattered loops unrolled.
std::vector<Strided> boxes_of(const Way& way) {
  Strided first;
  first.from = way.from;
  first.to = {way.to, Extents(way.to.size(), 1)};
  first.axis.assign(way.to.size(), kNoAxis);
  first.step.assign(way.to.size(), 0);
  std::vector<const Way::Step*> scattered;
  const auto runs = [&](std::size_t axis) {
    return axis != kNoAxis && std::ranges::find(first.axis, axis) != first.axis.end();
  };
  for (const Way::Step& step : way.steps) {
    const bool dense = step.to != kNoAxis && step.to_step == 1 && first.axis[step.to] == kNoAxis &&
                       !runs(step.from);
    if (!dense) {
      scattered.push_back(&step);
      continue;
    }
    first.to.size[step.to] = step.size;
    first.axis[step.to] = step.from;
    first.step[step.to] = step.from_step;
  }
  std::vector<Strided> boxes = {std::move(first)};
  for (const Way::Step* step : scattered) {
    std::vector<Strided> more;
    if (boxes.size() > kMaxBoxes / static_cast<std::size_t>(std::max<std::int64_t>(step->size, 1)))
      throw Error(fmt::format("the map takes more than {} boxes", kMaxBoxes));
    for (const Strided& box : boxes) {
      for (std::int64_t i = 0; i < step->size; ++i) {
        Strided& next = more.emplace_back(box);
        if (step->to != kNoAxis) next.to.lo[step->to] += i * step->to_step;
        if (step->from != kNoAxis) next.from[step->from] += i * step->from_step;
      }
    }
    boxes = std::move(more);
  }
  return boxes;
}

/// The part of a strided box whose source elements lie in `inside`; nothing when there is none.
std::optional<Strided> clipped(const Strided& whole, const Box& inside) {
  Strided part = whole;
  std::vector<bool> runs(inside.lo.size(), false);
  for (std::size_t d = 0; d < whole.axis.size(); ++d) {
    const std::size_t axis = whole.axis[d];
    if (axis == kNoAxis) continue;
    runs[axis] = true;
    const std::int64_t step = whole.step[d];
    const std::int64_t ahead = inside.lo[axis] - whole.from[axis];
    const std::int64_t begin = ahead <= 0 ? 0 : ceil_div(ahead, step);
    const std::int64_t room = ahead + inside.size[axis];  // source indices below it are inside
    const std::int64_t end = room <= 0 ? 0 : std::min(whole.to.size[d], ceil_div(room, step));
    if (begin >= end) return std::nullopt;
    part.to.lo[d] += begin;
    part.to.size[d] = end - begin;
    part.from[axis] += begin * step;
  }
  for (std::size_t axis = 0; axis < runs.size(); ++axis) {
    const std::int64_t at = part.from[axis] - inside.lo[axis];
    if (!runs[axis] && (at < 0 || at >= inside.size[axis])) return std::nullopt;
  }
  return part;
}

class Weaver {
 public:
  Weaver(const Tensor& like, const Shape& shape) {
    made_.identity = like.identity;
    made_.kind = like.kind;
    made_.dtype = like.dtype;
    made_.shape = shape;
    made_.stored = like.stored;
    made_.trace = like.trace;
    made_.order = like.order;
    made_.reduce = like.reduce;
    made_.mean_of = like.mean_of;
    made_.rounding = like.rounding;
    made_.terms.resize(like.terms.size());
    made_.term_replicas.resize(like.term_replicas.size());
  }

  void add(const Tensor& source, const Way& way) {
    for (const Strided& box : boxes_of(way)) {
      take(source.pieces, source.shape, box, made_.pieces);
      take(source.replicas, source.shape, box, made_.replicas);
      for (std::size_t i = 0; i < source.terms.size(); ++i) {
        take(source.terms[i], source.shape, box, made_.terms[i]);
      }
      for (std::size_t i = 0; i < source.term_replicas.size(); ++i) {
        take(source.term_replicas[i], source.shape, box, made_.term_replicas[i]);
      }
      for (const Box& hole : source.holes) {
        if (auto part = clipped(box, hole)) made_.holes.push_back(std::move(part->to));
      }
    }
  }

  Tensor done() {
    std::ranges::stable_sort(made_.replicas, {}, &Piece::rank);
    return std::move(made_);
  }

 private:
  /// The pieces' cells in the box; cells of one piece stay together.
  void take(const std::vector<Piece>& from, const Shape& shape, const Strided& box,
            std::vector<Piece>& to) {
    const Cell all{whole(shape), 0, row_major_strides(shape)};
    for (const Piece& piece : from) {
      const std::span<const Cell> own =
          piece.cells.empty() ? std::span(&all, 1) : std::span(piece.cells);
      std::vector<Cell> cells;
      tries_ += own.size();
      if (tries_ > kMaxTries) throw Error("the map cuts too many cells by too many boxes");
      for (const Cell& cell : own) {
        if (const auto part = clipped(box, cell.box)) cells.push_back(cell_of(*part, cell));
      }
      if (cells.empty()) continue;
      Piece* same = find(to, piece);
      if (same == nullptr) {
        same = &to.emplace_back(piece);
        same->cells.clear();
      }
      same->cells.insert(same->cells.end(), cells.begin(), cells.end());
    }
  }

  static Piece* find(std::vector<Piece>& pieces, const Piece& like) {
    const auto same = [&](const Piece& piece) {
      return piece.source == like.source && piece.offset == like.offset && piece.rank == like.rank;
    };
    const auto found = std::find_if(pieces.rbegin(), pieces.rend(), same);
    return found == pieces.rend() ? nullptr : &*found;
  }

  static Cell cell_of(const Strided& part, const Cell& source) {
    Cell cell;
    cell.box = part.to;
    cell.start = source.start;
    for (std::size_t axis = 0; axis < part.from.size(); ++axis) {
      cell.start += (part.from[axis] - source.box.lo[axis]) * source.strides[axis];
    }
    for (std::size_t d = 0; d < part.axis.size(); ++d) {
      const std::size_t axis = part.axis[d];
      cell.strides.push_back(axis == kNoAxis ? 0 : part.step[d] * source.strides[axis]);
    }
    return cell;
  }

  Tensor made_;
  std::size_t tries_ = 0;
};

/// What holds for all parts; null where none was rounded.
std::shared_ptr<const Rounding> widest(std::span<const Tensor* const> parts) {
  std::shared_ptr<const Rounding> found;
  for (const Tensor* part : parts) {
    if (!part->rounding) continue;
    Rounding both = found ? *found : *part->rounding;
    both.rtol = std::max(both.rtol, part->rounding->rtol);
    both.atol = std::max(both.atol, part->rounding->atol);
    found = std::make_shared<const Rounding>(std::move(both));
  }
  return found;
}

}  // namespace

Tensor part_of(const BoxMap& map, const Tensor& whole, std::size_t part) {
  require(whole.shape == map.whole, "the whole of the map");
  Weaver weaver(whole, map.parts.at(part));
  for (const Link& link : map.links) {
    if (link.part == part) weaver.add(whole, into_part(link));
  }
  Tensor made = weaver.done();
  if (part == 0) made.holes.insert(made.holes.end(), map.outside.begin(), map.outside.end());
  return made;
}

Tensor whole_of(const BoxMap& map, std::span<const Tensor* const> parts) {
  require(parts.size() == map.parts.size(), "the parts of the map");
  if constexpr (kRequires) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      require(parts[i]->shape == map.parts[i], "the shapes of the map's parts");
      require(parts[i]->dtype == parts.front()->dtype, "parts of one dtype");
      require(parts[i]->reduce == Reduce::none, "parts that are no sums");
    }
  }
  Weaver weaver(*parts.front(), map.whole);
  for (const Link& link : map.links) weaver.add(*parts[link.part], into_whole(link));
  Tensor made = weaver.done();
  made.rounding = widest(parts);
  return made;
}

}  // namespace ttcheck::align
