// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/placed_records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/assemble/place.hpp"
#include "core/base/error.hpp"

namespace ttcheck::assemble {
namespace {

using Refuse = std::function<void(const Record& record, std::string message)>;

class Placing {
 public:
  Placing(std::span<Record* const> records, const AssembleContext& context, const Refuse& refuse)
      : records_(records), context_(context), refuse_(refuse) {}

  PlacedRecords make() {
    place();
    return std::move(out_);
  }

 private:
  const std::string& name() const { return records_.front()->identity.name; }

  void place() {
    const Record& first = *records_.front();
    if (first.box_lo) return place_boxes();
    if (first.placement) return place_by_plan();
    out_.shape = first.logical.value_or(first.shape);
    for (const Record* record : records_) {
      if (record->shape != out_.shape) {
        refuse_(*record, fmt::format("{} has shape [{}] here, [{}] on {}", name(),
                                     fmt::join(record->shape, ", "), fmt::join(out_.shape, ", "),
                                     holder_of(first)));
        continue;
      }
      out_.parts.push_back({.record = record,
                            .cells = cells_at(*record, Extents(out_.shape.size(), 0)),
                            .key = {},
                            .term = {}});
    }
  }

  void place_boxes() {
    out_.shape = records_.front()->logical.value_or(records_.front()->shape);
    out_.parts.reserve(records_.size());
    for (const Record* record : records_) {
      try {
        out_.parts.push_back(boxed(*record));
      } catch (const Error& error) {
        refuse_(*record, fmt::format("{}: {}", name(), error.message()));
      }
    }
  }

  PlacedPart boxed(const Record& record) const {
    const Extents& lo = *record.box_lo;
    const Shape& extent = record.flat ? record.flat->block : record.shape;
    if (!lies_inside(lo, extent)) {
      throw Error(fmt::format("a piece of shape [{}] at [{}] is not inside of [{}]",
                              fmt::join(extent, ", "), fmt::join(lo, ", "),
                              fmt::join(out_.shape, ", ")));
    }
    PlacedPart part{.record = &record,
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
    bool inside = lo.size() == out_.shape.size() && extent.size() == out_.shape.size();
    for (std::size_t d = 0; inside && d < out_.shape.size(); ++d) {
      inside = lo[d] >= 0 && extent[d] >= 0 && lo[d] <= out_.shape[d] &&
               extent[d] <= out_.shape[d] - lo[d];
    }
    return inside;
  }

  void place_by_plan() {
    std::vector<Member> members;
    for (const Record* record : records_) members.push_back({record, {}});
    out_.plan = make_plan(*records_.front()->placement, members, context_);
    out_.shape = out_.plan->shape;
    for (Member& member : members) {
      try {
        PlacedPart part{
            .record = member.record, .cells = cells_of(member, *out_.plan), .key = {}, .term = {}};
        for (std::size_t i = 0; i < out_.plan->axes.size(); ++i) {
          const bool reduced =
              std::count(out_.plan->reduced.begin(), out_.plan->reduced.end(), i) > 0;
          (reduced ? part.term : part.key).push_back(member.at[i]);
        }
        out_.parts.push_back(std::move(part));
      } catch (const Error& error) {
        refuse_(*member.record, fmt::format("{}: shape [{}] does not match '{}': {}", name(),
                                            fmt::join(member.record->shape, ", "),
                                            to_string(*member.record->placement), error.message()));
      }
    }
  }

  std::span<Record* const> records_;
  const AssembleContext& context_;
  const Refuse& refuse_;
  PlacedRecords out_;
};

}  // namespace

PlacedRecords place_records(std::span<Record* const> records, const AssembleContext& context,
                            const Refuse& refuse) {
  return Placing(records, context, refuse).make();
}

std::string holder_of(const Record& record) {
  return record.piece.rank == kNoRank ? "the first" : fmt::format("rank {}", record.piece.rank);
}

}  // namespace ttcheck::assemble
