// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/assemble/coverage.hpp"
#include "core/assemble/place.hpp"
#include "core/assemble/placed_records.hpp"
#include "core/base/checked.hpp"

namespace ttcheck::assemble {
namespace {

// A tensor that lacks more than both of these is not walked for the little that it has: a few bytes
// can declare any number of elements.
constexpr std::int64_t kOpen = std::int64_t{1} << 30;
constexpr std::int64_t kOpenForEach = 1 << 16;  ///< element that is there

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
    for (const Record* record : records_) microbatches_.insert(coordinate(record->at, "mb"));
    try {
      placed_ = place_records(records_, context_, [&](const Record& record, std::string message) {
        fault(Code::shape_or_dtype, record, std::move(message));
      });
      if (!placed_.parts.empty()) fill();
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
                          name(first.dtype), holder_of(first)));
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
                          holder_of(first)));
      }
      return !same_way;
    };
    std::erase_if(records_,
                  [&](const Record* record) { return record != &first && unlike(record); });
  }

  /// Parts in their places: the primary ones, the replicas, and the addends.
  void fill() {
    Tensor& tensor = built_.tensor.emplace();
    const Record& first = *placed_.parts.front().record;
    tensor.identity = first.identity;
    tensor.kind = first.kind;
    tensor.dtype = first.dtype;
    tensor.shape = placed_.shape;
    tensor.trace = first.trace;
    tensor.placement = first.placement;
    tensor.stored = std::all_of(placed_.parts.begin(), placed_.parts.end(),
                                [](const PlacedPart& part) { return part.record->stored; });
    if (!tensor.stored) {
      for (const PlacedPart& part : placed_.parts) {
        tensor.recorded.emplace_back(part.record->piece.rank, part.record->trace);
      }
    }
    tensor.undeclared = first.undeclared;
    tensor.by_shape = first.by_shape;
    tensor.by_rank = first.by_rank;
    if (placed_.plan) {
      tensor.reduce = placed_.plan->reduce;
      tensor.mean_of = placed_.plan->mean_of;
    }
    if (placed_.plan && placed_.plan->least != placed_.shape) built_.least = placed_.plan->least;
    sort_out(tensor);
    check(tensor);
    for (auto* list : {&tensor.pieces, &tensor.replicas}) simplify(*list);
    for (auto& term : tensor.terms) simplify(term);
    for (auto& term : tensor.term_replicas) simplify(term);
  }

  void sort_out(Tensor& tensor) {
    std::map<Extents, std::size_t> terms;
    const auto before = [](const PlacedPart* a, const PlacedPart* b) {
      return std::tie(a->term, a->key) < std::tie(b->term, b->key);
    };
    std::set<const PlacedPart*, decltype(before)> seen(before);
    for (PlacedPart& part : placed_.parts) {
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
      if (part.cells.empty() && element_count(placed_.shape) != 0) continue;
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
           coordinate(a.at, "mb") == coordinate(b.at, "mb") && a.again == b.again;
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
      if (placed_.plan && tensor.holes.empty()) check_copies();
      return;
    }
    for (const auto& term : tensor.terms) check_set(tensor, term);
    const std::int64_t expected = addends();
    if (std::ssize(tensor.terms) == expected || others_add_nothing()) return;
    tensor.holes.assign(1, whole(placed_.shape));
    omit(tensor, fmt::format("{} of {} addends of {} are there", tensor.terms.size(), expected,
                             identity().name));
  }

  /// What one rank or micro-batch adds to a gradient of the step, nobody adds who did not run the
  /// module.
  bool others_add_nothing() const {
    const auto& partial = records_.front()->placement->partial;
    const auto is_mb = [](const auto& note) { return note.first == "mb"; };
    return context_.calls != nullptr && std::ranges::any_of(partial, is_mb) &&
           context_.calls->are_all({records_.begin(), records_.end()});
  }

  /// One for each coordinate along the axes that the tensor is summed over; along pp and the like
  /// for those that have it.
  std::int64_t addends() const {
    std::int64_t expected = 1;
    for (std::size_t i = 0, term = 0; i < placed_.plan->axes.size(); ++i) {
      if (std::ranges::find(placed_.plan->reduced, i) == placed_.plan->reduced.end()) continue;
      std::set<std::int64_t> there;
      for (const PlacedPart& part : placed_.parts) there.insert(part.term[term]);
      ++term;
      const bool stage = lives_where_it_lives(placed_.plan->axes[i].name);
      expected = checked_mul(expected, stage ? std::ssize(there) : placed_.plan->axes[i].n);
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
    BoxCoverage coverage = check_coverage(placed_.shape, boxes);
    if (coverage.overlap)
      overlap(*owners[coverage.overlap->first], *owners[coverage.overlap->second]);
    if (coverage.holes.empty()) return;
    std::int64_t open = 0;
    for (const Box& hole : coverage.holes) open = checked_add(open, volume(hole));
    const std::int64_t there = element_count(placed_.shape) - open;
    if (open > kOpen && open / kOpenForEach > there) {
      throw Error(fmt::format("{} declares {} elements and holds {} of them", identity().name,
                              element_count(placed_.shape), there));
    }
    std::move(coverage.holes.begin(), coverage.holes.end(), std::back_inserter(tensor.holes));
    omit(tensor, fmt::format("{} of {} elements of {} are on no rank", open,
                             element_count(placed_.shape), identity().name));
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
    for (const PlacedPart& part : placed_.parts) ranks.insert(part.record->piece.rank);
    return ranks;
  }

  /// Names the missing ranks whose parts fill the holes; none when something else is open, too.
  void explain(std::vector<Box> holes) {
    std::set<std::string> sharded;
    if (placed_.plan) {
      for (const AxisUse& axis : placed_.plan->axes) sharded.insert(axis.name);
    }
    const std::set<std::int32_t> here = holders();
    std::vector<std::int32_t> ranks;
    for (const std::int32_t rank : missing_) {
      if (!context_.stages.beside(rank, here, sharded)) continue;
      const Coordinates* at = context_.stages.at(rank);
      if (!placed_.plan || placed_.plan->reduce != Reduce::none || at == nullptr) {
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

  /// What a rank at these coordinates would hold, over all micro-batches that somebody has.
  std::vector<Box> boxes_of(const Coordinates& at) const {
    std::vector<Box> boxes;
    const auto is_mb = [](const AxisUse& axis) { return axis.name == "mb"; };
    for (const std::int64_t i : microbatches_) {
      Extents place;
      for (const AxisUse& axis : placed_.plan->axes) {
        place.push_back(is_mb(axis) ? i : coordinate(at, axis.name));
      }
      for (Box& box : boxes_at(place, *placed_.plan)) boxes.push_back(std::move(box));
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
    const Cell all{whole(placed_.shape), 0, row_major_strides(placed_.shape)};
    for (Piece& piece : pieces) {
      if (piece.cells.size() == 1 && piece.cells.front() == all) piece.cells.clear();
    }
  }

  std::vector<Record*> records_;
  std::set<std::int64_t> microbatches_;  ///< that somebody has
  const AssembleContext& context_;
  std::span<const std::int32_t> missing_;
  PlacedRecords placed_;
  Built built_;
};

}  // namespace

Built build(std::vector<Record*> records, const AssembleContext& context,
            std::span<const std::int32_t> missing) {
  return Builder(std::move(records), context, missing).make();
}

}  // namespace ttcheck::assemble
