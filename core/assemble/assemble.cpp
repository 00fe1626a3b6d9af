// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/assemble.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/assemble/build.hpp"
#include "core/assemble/groups.hpp"
#include "core/assemble/local_loss.hpp"
#include "core/assemble/missing.hpp"
#include "core/base/parallel.hpp"

namespace ttcheck::assemble {
namespace {

/// Whether a line names micro-batches as an axis, so that they are shards of one tensor.
bool names_microbatches(const Placement& placement) {
  const auto names = [](const std::vector<ShardSpec>& shards) {
    return std::any_of(shards.begin(), shards.end(),
                       [](const ShardSpec& shard) { return shard.axis == "mb"; });
  };
  return names(placement.flat_shards) ||
         std::any_of(placement.dims.begin(), placement.dims.end(),
                     [&](const DimSpec& dim) { return names(dim.shards); }) ||
         std::any_of(placement.partial.begin(), placement.partial.end(),
                     [](const auto& note) { return note.first == "mb"; });
}

/// Makes micro-batches that are shards one identity; gives the number of micro-batches.
std::int64_t fold_microbatches(std::vector<Record>& records) {
  std::int64_t count = 1;
  for (Record& record : records) {
    if (!record.placement || !names_microbatches(*record.placement)) continue;
    record.at.try_emplace("mb", record.identity.microbatch);
    record.identity.microbatch = 0;
    count = std::max(count, coordinate(record.at, "mb") + 1);
  }
  return count;
}

/// One record that is the whole tensor: the common case, without a detour.
Tensor whole_tensor(Record& record) {
  Tensor tensor;
  tensor.identity = std::move(record.identity);
  tensor.kind = record.kind;
  tensor.dtype = record.dtype;
  tensor.shape = std::move(record.shape);
  tensor.stored = record.stored;
  tensor.trace = std::move(record.trace);
  tensor.placement = std::move(record.placement);
  tensor.pieces.push_back(std::move(record.piece));
  tensor.holes = std::move(record.holes);
  return tensor;
}

constexpr std::size_t kBatch = std::size_t{1} << 14;  ///< groups whose answers wait at a time

/// The groups of a state that take more than one look, built side by side.
class Batches {
 public:
  Batches(std::vector<Record>& records, const Groups& groups, const AssembleContext& context,
          std::span<const std::int32_t> missing)
      : records_(records), groups_(groups), context_(context), missing_(missing) {}

  /// Nothing where the first record says all. REQUIRES groups in order, each once.
  std::optional<Built> take(std::size_t group) {
    if (group % kBatch == 0) fill(group);
    return std::move(built_[group % kBatch]);
  }

 private:
  void fill(std::size_t begin) {
    built_.clear();
    built_.resize(std::min(kBatch, groups_.first.size() - begin));
    parallel_ranges(built_.size(), [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) {
        if (!is_plain(begin + i)) built_[i] = build(members(begin + i), context_, missing_);
      }
    });
  }

  bool is_plain(std::size_t group) const {
    const Record& first = records_[groups_.first[group]];
    if (first.placement) return first.placement->rep_any;
    return groups_.first[group] == groups_.last[group] && !first.box_lo && !first.logical;
  }

  std::vector<Record*> members(std::size_t group) const {
    std::vector<Record*> members;
    for (const std::uint32_t i : groups_.members(group)) members.push_back(&records_[i]);
    return members;
  }

  std::vector<Record>& records_;
  const Groups& groups_;
  const AssembleContext& context_;
  std::span<const std::int32_t> missing_;
  std::vector<std::optional<Built>> built_;
};

}  // namespace

Assembly assemble(State&& state, const Mesh& mesh, const Numbers& numbers) {
  Assembly assembly;
  std::vector<Record>& records = state.records;
  const Stages stages(mesh);
  AssembleContext context{mesh,       numbers,           stages, fold_microbatches(records),
                          state.step, state.silent_ranks};
  MissingRanks missing(state, mesh);
  std::optional<Calls> calls;
  const auto is_of_microbatch = [](const Record& record) { return record.at.contains("mb"); };
  if (missing.ranks().empty() && std::ranges::any_of(records, is_of_microbatch)) {
    context.calls = &calls.emplace(records);
  }
  const Groups groups = group_by_identity(records);
  Batches batches(records, groups, context, missing.ranks());
  assembly.tensors.reserve(groups.first.size());
  for (std::size_t g = 0; g < groups.first.size(); ++g) {
    Record& first = records[groups.first[g]];
    std::optional<Built> built = batches.take(g);
    if (first.placement && first.placement->rep_any) {
      assembly.not_compared.push_back(std::move(first.identity));
      continue;
    }
    if (!built) {
      assembly.tensors.push_back(whole_tensor(first));
    } else {
      missing.count(built->explained_by);
      std::move(built->findings.begin(), built->findings.end(),
                std::back_inserter(assembly.findings));
      if (!built->tensor) {
        ++assembly.unreadable;
        continue;
      }
      if (!built->least.empty()) {
        assembly.least.emplace(assembly.tensors.size(), std::move(built->least));
      }
      assembly.tensors.push_back(std::move(*built->tensor));
    }
    assembly.tensors.back().order = static_cast<std::int64_t>(g);
  }
  missing.report(assembly.findings);
  set_gradients_of_step(assembly.tensors);
  return assembly;
}

bool may_be_of_one_shape(const Assembly& a, std::size_t in_a, const Assembly& b, std::size_t in_b) {
  const auto least_of = [](const Assembly& side, std::size_t i) -> const Shape& {
    const auto guess = side.least.find(i);
    return guess == side.least.end() ? side.tensors[i].shape : guess->second;
  };
  const Shape& most_a = a.tensors[in_a].shape;
  const Shape& most_b = b.tensors[in_b].shape;
  const Shape& least_a = least_of(a, in_a);
  const Shape& least_b = least_of(b, in_b);
  bool may_be = most_a.size() == most_b.size() && least_a.size() == most_a.size() &&
                least_b.size() == most_b.size();
  for (std::size_t d = 0; may_be && d < most_a.size(); ++d) {
    may_be = least_a[d] <= most_b[d] && least_b[d] <= most_a[d];
  }
  return may_be;
}

}  // namespace ttcheck::assemble
