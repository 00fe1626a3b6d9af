// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/missing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/assemble/stages.hpp"

namespace ttcheck::assemble {
namespace {

/// Ranks below `world` that `held` (ascending) leaves out, the first kMaxRanksListed of them.
std::vector<std::int32_t> left_out(const std::vector<std::int32_t>& held, std::int64_t world) {
  std::vector<std::int32_t> ranks;
  for (std::int32_t rank = 0; rank < world && ranks.size() < kMaxRanksListed; ++rank) {
    if (!std::ranges::binary_search(held, rank)) ranks.push_back(rank);
  }
  return ranks;
}

/// Without a mesh that has it, nothing says of how many ranks it is one.
std::string called(std::int32_t rank, std::int64_t world) {
  return rank < world && world > 1 ? fmt::format("rank {} of {}", rank, world)
                                   : fmt::format("rank {}", rank);
}

}  // namespace

MissingRanks::MissingRanks(const State& state, const Mesh& mesh)
    : ranks_(state.missing_ranks), unreadable_(state.unreadable_ranks), step_(state.step) {
  for (const auto& [rank, error] : unreadable_) ranks_.push_back(rank);
  world_ = world_of(mesh);
  std::vector<std::int32_t> held;
  bool by_dims = false;
  for (const Record& record : state.records) {
    by_dims = by_dims || record.placement || record.trace;
    if (record.piece.rank != kNoRank && (held.empty() || held.back() != record.piece.rank)) {
      held.push_back(record.piece.rank);
    }
  }
  if (by_dims && !held.empty() && world_ > 1) {
    held.insert(held.end(), state.silent_ranks.begin(), state.silent_ranks.end());
    std::sort(held.begin(), held.end());
    const std::int64_t last = std::min<std::int64_t>(world_, INT32_MAX);
    for (const std::int32_t rank : left_out(held, last)) ranks_.push_back(rank);
  }
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

void MissingRanks::count(std::span<const std::int32_t> ranks) {
  for (const std::int32_t rank : ranks) ++holes_[rank];
}

void MissingRanks::report(std::vector<Finding>& findings) const {
  if (ranks_.size() - unreadable_.size() >= kMaxRanksListed) {
    Finding& finding = findings.emplace_back();
    finding.code = Code::missing_rank;
    finding.step = step_;
    finding.incomplete = true;
    finding.message =
        fmt::format("of {} ranks {} and more hold nothing, the first of them are listed", world_,
                    kMaxRanksListed);
  }
  for (const std::int32_t rank : ranks_) {
    Finding& finding = findings.emplace_back();
    finding.step = step_;
    finding.ranks = {rank};
    finding.incomplete = true;
    const auto at = holes_.find(rank);
    const std::int64_t holes = at == holes_.end() ? 0 : at->second;
    const auto unread = unreadable_.find(rank);
    if (unread == unreadable_.end()) {
      finding.code = Code::missing_rank;
      finding.message = fmt::format("{} holds nothing; tensors with holes for it: {}",
                                    called(rank, world_), holes);
      continue;
    }
    finding.code = Code::unreadable;
    finding.where = unread->second.where();
    finding.message = unread->second.message();
    if (holes > 0) {
      finding.message +=
          fmt::format("; tensors with holes for {}: {}", called(rank, world_), holes);
    }
  }
}

}  // namespace ttcheck::assemble
