#include "core/assemble/build.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/assemble/coverage.hpp"
#include "core/assemble/place.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

// A tensor that lacks more than both of these is not walked for the little that it has: a few bytes
// can declare any number of elements.
constexpr std::int64_t kOpen = std::int64_t{1} << 30;
constexpr std::int64_t kOpenForEach = 1 << 16;  ///< element that is there

/// One rank's array in its place.
struct Part {
  const Record* record = nullptr;
  std::vector<Cell> cells;  ///< logical coordinates; empty: it holds nothing
  Extents key;              ///< equal for replicas
  Extents term;             ///< coordinates along the axes that are reduced over
};

class Builder {
 public:
  Builder(std::vector<Record*> records, const AssembleContext& context,
          std::span<const std::int32_t> missing)
      : records_(std::move(records)), context_(context), missing_(missing) {}

  Built make() {
    const auto order = [](const Record* a, const Record* b) {
      if (a->piece.rank != b->piece.rank) return a->piece.rank < b->piece.rank;
      return coordinate(a->at, "mb") < coordinate(b->at, "mb");
    };
    if (!std::ranges::is_sorted(records_, order)) std::ranges::stable_sort(records_, order);
    drop_unlike();
    try {
      place();
      if (!parts_.empty()) fill();
    } catch (const Error& error) {
      fault(Code::shape_or_dtype, *records_.front(), error.message());
      built_.tensor.reset();
    }
    return std::move(built_);
  }

 private:
  const Identity& identity() const { return records_.front()->identity; }

  Finding& fault(Code code, const Record& record, std::string message) {
    Finding& finding = built_.findings.emplace_back();
    finding.code = code;
    finding.step = context_.step;
    finding.phase = identity().phase;
    finding.op = identity().phase == Phase::none ? "" : std::string(module_of(identity()));
    finding.tensor = identity().name;
    if (record.piece.rank != kNoRank) finding.ranks = {record.piece.rank};
    finding.where = record.piece.where();
    finding.message = std::move(message);
    return finding;
  }

  /// Records of another dtype than the first, or of another way of placing, cannot be joined to it.
  void drop_unlike() {
    const Record& first = *records_.front();
    const auto unlike = [&](const Record* record) {
      if (record->dtype != first.dtype) {
        fault(Code::shape_or_dtype, *record,
              fmt::format("{} is {} here and {} on {}", identity().name, name(record->dtype),
                          name(first.dtype), holder(first)));
        return true;
      }
      const bool same_way =
          record->box_lo.has_value() == first.box_lo.has_value() &&
          record->logical == first.logical &&
          (record->placement == first.placement ||
           (record->placement && first.placement && *record->placement == *first.placement));
      if (!same_way) {
        fault(Code::shape_or_dtype, *record,
              fmt::format("{} is placed in another way here than on {}", identity().name,
                          holder(first)));
      }
      return !same_way;
    };
    std::erase_if(records_,
                  [&](const Record* record) { return record != &first && unlike(record); });
  }

  static std::string holder(const Record& record) {
    return record.piece.rank == kNoRank ? "the first" : fmt::format("rank {}", record.piece.rank);
  }

  void place() {
    const Record& first = *records_.front();
    if (first.box_lo) return place_boxes();
    if (first.placement) return place_by_plan();
    shape_ = first.logical.value_or(first.shape);
    for (const Record* record : records_) {
      if (record->shape != shape_) {
        fault(Code::shape_or_dtype, *record,
              fmt::format("{} has shape [{}] here, [{}] on {}", identity().name,
                          fmt::join(record->shape, ", "), fmt::join(shape_, ", "), holder(first)));
        continue;
      }
      parts_.push_back({.record = record,
                        .cells = cells_at(*record, Extents(shape_.size(), 0)),
                        .key = {},
                        .term = {}});
    }
  }

  void place_boxes() {
    shape_ = records_.front()->logical.value_or(records_.front()->shape);
    parts_.reserve(records_.size());
    for (const Record* record : records_) {
      try {
        parts_.push_back(boxed(*record));
      } catch (const Error& error) {
        fault(Code::shape_or_dtype, *record,
              fmt::format("{}: {}", identity().name, error.message()));
      }
    }
  }

  Part boxed(const Record& record) const {
    const Extents& lo = *record.box_lo;
    const Shape& extent = record.flat ? record.flat->block : record.shape;
    if (!lies_inside(lo, extent)) {
      throw Error(fmt::format("a piece of shape [{}] at [{}] is not inside of [{}]",
                              fmt::join(extent, ", "), fmt::join(lo, ", "),
                              fmt::join(shape_, ", ")));
    }
    Part part{.record = &record,
              .cells = record.flat ? cells_of_range(record, lo) : cells_at(record, lo),
              .key = {},
              .term = {}};
    part.key.reserve(2 * lo.size() + 2);
    part.key.insert(part.key.end(), lo.begin(), lo.end());
    part.key.insert(part.key.end(), extent.begin(), extent.end());
    if (record.flat) {
      part.key.push_back(record.flat->begin);
      part.key.push_back(element_count(record.shape));
    }
    return part;
  }

  bool lies_inside(const Extents& lo, const Shape& extent) const {
    bool inside = lo.size() == shape_.size() && extent.size() == shape_.size();
    for (std::size_t d = 0; inside && d < shape_.size(); ++d) {
      inside = lo[d] >= 0 && extent[d] >= 0 && lo[d] <= shape_[d] && extent[d] <= shape_[d] - lo[d];
    }
    return inside;
  }

  void place_by_plan() {
    std::vector<Member> members;
    for (const Record* record : records_) members.push_back({record, {}});
    plan_ = make_plan(*records_.front()->placement, members, context_);
    shape_ = plan_->shape;
    for (Member& member : members) {
      try {
        Part part{
            .record = member.record, .cells = cells_of(member, *plan_), .key = {}, .term = {}};
        for (std::size_t i = 0; i < plan_->axes.size(); ++i) {
          const bool reduced = std::count(plan_->reduced.begin(), plan_->reduced.end(), i) > 0;
          (reduced ? part.term : part.key).push_back(member.at[i]);
        }
        parts_.push_back(std::move(part));
      } catch (const Error& error) {
        fault(Code::shape_or_dtype, *member.record,
              fmt::format("{}: shape [{}] does not match '{}': {}", identity().name,
                          fmt::join(member.record->shape, ", "),
                          to_string(*member.record->placement), error.message()));
      }
    }
  }

  /// Parts in their places: the primary ones, the replicas, and the addends.
  void fill() {
    Tensor& tensor = built_.tensor.emplace();
    const Record& first = *parts_.front().record;
    tensor.identity = first.identity;
    tensor.kind = first.kind;
    tensor.dtype = first.dtype;
    tensor.shape = shape_;
    tensor.trace = first.trace;
    tensor.placement = first.placement;
    tensor.stored = std::all_of(parts_.begin(), parts_.end(),
                                [](const Part& part) { return part.record->stored; });
    if (!tensor.stored) {
      for (const Part& part : parts_) {
        tensor.recorded.emplace_back(part.record->piece.rank, part.record->trace);
      }
    }
    tensor.undeclared = first.undeclared;
    tensor.by_shape = first.by_shape;
    tensor.by_rank = first.by_rank;
    if (plan_) tensor.reduce = plan_->reduce;
    if (plan_ && plan_->least != shape_) built_.least = plan_->least;
    sort_out(tensor);
    check(tensor);
    for (auto* list : {&tensor.pieces, &tensor.replicas}) simplify(*list);
    for (auto& term : tensor.terms) simplify(term);
    for (auto& term : tensor.term_replicas) simplify(term);
  }

  void sort_out(Tensor& tensor) {
    std::map<Extents, std::size_t> terms;
    const auto before = [](const Part* a, const Part* b) {
      return std::tie(a->term, a->key) < std::tie(b->term, b->key);
    };
    std::set<const Part*, decltype(before)> seen(before);
    for (Part& part : parts_) {
      const auto [at, fresh] = seen.insert(&part);
      if (!fresh && same_holder(*(*at)->record, *part.record)) {
        twice(*part.record);
        continue;
      }
      std::size_t term = 0;
      if (tensor.reduce != Reduce::none) {
        term = terms.try_emplace(part.term, terms.size()).first->second;
        tensor.terms.resize(terms.size());
        tensor.term_replicas.resize(terms.size());
      }
      if (part.cells.empty() && element_count(shape_) != 0) continue;
      Piece piece = part.record->piece;
      piece.cells = std::move(part.cells);
      if (tensor.reduce != Reduce::none) {
        (fresh ? tensor.terms : tensor.term_replicas)[term].push_back(std::move(piece));
      } else {
        (fresh ? tensor.pieces : tensor.replicas).push_back(std::move(piece));
      }
    }
  }

  static bool same_holder(const Record& a, const Record& b) {
    return a.piece.rank == b.piece.rank && (a.piece.rank != kNoRank || a.at == b.at) &&
           a.again == b.again;
  }

  void twice(const Record& record) {
    fault(Code::overlap, record,
          fmt::format(
              "{} is there twice{}: expected one array, the later one is left out", identity().name,
              record.piece.rank == kNoRank ? "" : fmt::format(" on rank {}", record.piece.rank)))
        .incomplete = true;
  }

  void check(Tensor& tensor) {
    if (tensor.reduce == Reduce::none) {
      check_set(tensor, tensor.pieces);
      if (plan_ && tensor.holes.empty()) check_copies();
      return;
    }
    for (const auto& term : tensor.terms) check_set(tensor, term);
    const std::int64_t expected = addends();
    if (std::ssize(tensor.terms) == expected) return;
    tensor.holes.assign(1, whole(shape_));
    omit(tensor, fmt::format("{} of {} addends of {} are there", tensor.terms.size(), expected,
                             identity().name));
  }

  /// One for each coordinate along the axes that the tensor is summed over; along pp and the like
  /// for those that have it.
  std::int64_t addends() const {
    std::int64_t expected = 1;
    for (std::size_t i = 0, term = 0; i < plan_->axes.size(); ++i) {
      if (std::ranges::find(plan_->reduced, i) == plan_->reduced.end()) continue;
      std::set<std::int64_t> there;
      for (const Part& part : parts_) there.insert(part.term[term]);
      ++term;
      const bool stage = lives_where_it_lives(plan_->axes[i].name);
      expected = checked_mul(expected, stage ? std::ssize(there) : plan_->axes[i].n);
    }
    return expected;
  }

  void check_set(Tensor& tensor, const std::vector<Piece>& pieces) {
    std::vector<const Box*> boxes;
    std::vector<const Piece*> owners;
    boxes.reserve(pieces.size());
    owners.reserve(pieces.size());
    for (const Piece& piece : pieces) {
      for (const Cell& cell : piece.cells) {
        boxes.push_back(&cell.box);
        owners.push_back(&piece);
      }
    }
    BoxCoverage coverage = check_coverage(shape_, boxes);
    if (coverage.overlap)
      overlap(*owners[coverage.overlap->first], *owners[coverage.overlap->second]);
    if (coverage.holes.empty()) return;
    std::int64_t open = 0;
    for (const Box& hole : coverage.holes) open = checked_add(open, volume(hole));
    const std::int64_t there = element_count(shape_) - open;
    if (open > kOpen && open / kOpenForEach > there) {
      throw Error(fmt::format("{} declares {} elements and holds {} of them", identity().name,
                              element_count(shape_), there));
    }
    std::move(coverage.holes.begin(), coverage.holes.end(), std::back_inserter(tensor.holes));
    omit(tensor, fmt::format("{} of {} elements of {} are on no rank", open, element_count(shape_),
                             identity().name));
  }

  void overlap(const Piece& a, const Piece& b) {
    Finding& finding =
        fault(Code::overlap, *records_.front(),
              fmt::format("two pieces of {} hold the same elements: {} and {}", identity().name,
                          to_string(a.where()), to_string(b.where())));
    finding.where = b.where();
    finding.ranks.clear();
    for (const Piece* piece : {&a, &b}) {
      if (piece->rank != kNoRank) finding.ranks.push_back(piece->rank);
    }
    std::sort(finding.ranks.begin(), finding.ranks.end());
  }

  /// A hole: said once, and not where a shape or a missing rank already explains it.
  void omit(const Tensor& tensor, std::string message) {
    if (!built_.findings.empty() || !built_.explained_by.empty()) return;
    explain(tensor.holes);
    if (!built_.explained_by.empty()) return;
    Finding& finding = fault(Code::omission, *records_.front(), std::move(message));
    finding.ranks = ranks_of(tensor);
    finding.incomplete = true;
  }

  std::set<std::int32_t> holders() const {
    std::set<std::int32_t> ranks;
    for (const Part& part : parts_) ranks.insert(part.record->piece.rank);
    return ranks;
  }

  /// Names the missing ranks whose parts fill the holes; none when something else is open, too.
  void explain(std::vector<Box> holes) {
    std::set<std::string> sharded;
    if (plan_) {
      for (const AxisUse& axis : plan_->axes) sharded.insert(axis.name);
    }
    const std::set<std::int32_t> here = holders();
    std::vector<std::int32_t> ranks;
    for (const std::int32_t rank : missing_) {
      if (!context_.stages.beside(rank, here, sharded)) continue;
      const Coordinates* at = context_.stages.at(rank);
      if (!plan_ || plan_->reduce != Reduce::none || at == nullptr) {
        holes.clear();
        ranks.push_back(rank);
        continue;
      }
      for (const Box& box : boxes_of(*at)) {
        std::vector<Box> open;
        for (const Box& hole : holes) {
          for (Box& rest : subtract(hole, box)) open.push_back(std::move(rest));
          if (intersect(hole, box) && (ranks.empty() || ranks.back() != rank))
            ranks.push_back(rank);
        }
        holes = std::move(open);
      }
    }
    if (holes.empty()) built_.explained_by = std::move(ranks);
  }

  /// What a rank at these coordinates would hold, over all micro-batches.
  std::vector<Box> boxes_of(const Coordinates& at) const {
    std::vector<Box> boxes;
    const auto is_mb = [](const AxisUse& axis) { return axis.name == "mb"; };
    const auto mb = std::find_if(plan_->axes.begin(), plan_->axes.end(), is_mb);
    const std::int64_t count = mb == plan_->axes.end() ? 1 : mb->n;
    for (std::int64_t i = 0; i < count; ++i) {
      Extents place;
      for (const AxisUse& axis : plan_->axes) {
        place.push_back(is_mb(axis) ? i : coordinate(at, axis.name));
      }
      for (Box& box : boxes_at(place, *plan_)) boxes.push_back(std::move(box));
    }
    return boxes;
  }

  /// Ranks beside the holders that should hold a copy, too.
  void check_copies() {
    const std::set<std::int32_t> here = holders();
    if (here.contains(kNoRank) || !built_.findings.empty()) return;
    std::vector<std::int32_t> without;
    for (const std::int32_t rank : context_.stages.absent(here)) {
      const bool gone = std::binary_search(missing_.begin(), missing_.end(), rank) ||
                        std::binary_search(context_.silent.begin(), context_.silent.end(), rank);
      if (!gone && !boxes_of(*context_.stages.at(rank)).empty()) without.push_back(rank);
    }
    if (without.empty()) return;
    Finding& finding =
        fault(Code::omission, *records_.front(),
              fmt::format("{} of {} ranks hold no copy of {}, first rank {}", without.size(),
                          without.size() + here.size(), identity().name, without.front()));
    finding.severity = Severity::warning;
    finding.ranks = std::move(without);
  }

  /// Drops cells that say no more than "all of it, row-major".
  void simplify(std::vector<Piece>& pieces) const {
    if (pieces.empty()) return;
    const Cell all{whole(shape_), 0, row_major_strides(shape_)};
    for (Piece& piece : pieces) {
      if (piece.cells.size() == 1 && piece.cells.front() == all) piece.cells.clear();
    }
  }

  std::vector<Record*> records_;
  const AssembleContext& context_;
  std::span<const std::int32_t> missing_;
  std::optional<Plan> plan_;
  Shape shape_;
  std::vector<Part> parts_;
  Built built_;
};

}  // namespace

Built build(std::vector<Record*> records, const AssembleContext& context,
            std::span<const std::int32_t> missing) {
  return Builder(std::move(records), context, missing).make();
}

}  // namespace ttcheck::assemble
