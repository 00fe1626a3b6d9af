// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/lost_ranks.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ttcheck::assemble {
namespace {

using Ranks = std::set<std::int32_t>;
using ByRank = std::unordered_map<Identity, std::map<std::int32_t, const Record*>, IdentityHash>;

/// A side, seen by what nothing declares.
struct Side {
  State& state;
  Ranks present, lost;
  ByRank records;

  explicit Side(State& of) : state(of) {
    lost.insert(of.missing_ranks.begin(), of.missing_ranks.end());
    for (const auto& [rank, error] : of.unreadable_ranks) lost.insert(rank);
    for (const Record& record : of.records) {
      present.insert(record.piece.rank);
      if (record.undeclared) records[record.identity].emplace(record.piece.rank, &record);
    }
  }

  Ranks known() const {
    Ranks all = present;
    all.insert(lost.begin(), lost.end());
    return all;
  }

  bool lacks_ranks() const { return state.least_ranks > std::ssize(present); }

  bool holds(const Identity& identity, std::int32_t rank) const {
    const auto found = records.find(identity);
    return found != records.end() && found->second.contains(rank);
  }
};

/// Whether all that both have of a rank is of the same shape, and there is any.
bool are_alike(const Side& a, const Side& b) {
  bool any = false;
  for (const auto& [identity, ranks] : a.records) {
    const auto others = b.records.find(identity);
    if (others == b.records.end()) continue;
    for (const auto& [rank, record] : ranks) {
      const auto other = others->second.find(rank);
      if (other == others->second.end()) continue;
      if (record->shape != other->second->shape) return false;
      any = true;
    }
  }
  return any;
}

/// `side` had the ranks that `other` has and it does not, if what it has is the same there.
void complete(Side& side, const Side& other) {
  const bool some = std::ranges::includes(other.present, side.present);
  if (!side.lost.empty() || !some || other.present.size() <= side.present.size() ||
      std::ssize(other.present) < side.state.least_ranks || !are_alike(side, other)) {
    return;
  }
  std::ranges::set_difference(other.present, side.present,
                              std::inserter(side.lost, side.lost.end()));
  for (const std::int32_t rank : side.lost) {
    if (side.state.missing_ranks.size() == kMaxRanksListed) break;
    side.state.missing_ranks.push_back(rank);
  }
}

void leave_out(Record& record) {
  static const auto kUncompared = std::make_shared<const Placement>(parse_dims("* # rep=any"));
  record.placement = kUncompared;
}

/// The sides were run on the same ranks, as far as they tell.
bool are_same_ranks(const Side& a, const Side& b) {
  const bool alone = a.lost.empty() && b.lost.empty() && (a.lacks_ranks() || b.lacks_ranks());
  return a.known() == b.known() && (!alone || a.state.least_ranks == b.state.least_ranks);
}

/// What of a tensor is not compared.
struct Dropped {
  Ranks ranks;
  bool whole = false;  ///< no other rank has it
};
using AllDropped = std::unordered_map<Identity, Dropped, IdentityHash>;

/// What `other` lost or could not read of what `side` has.
AllDropped lost_there(const Side& side, const Side& other) {
  Ranks gone = other.lost;
  gone.insert(other.state.damaged_ranks.begin(), other.state.damaged_ranks.end());
  AllDropped all;
  if (gone.empty()) return all;
  for (const auto& [identity, ranks] : side.records) {
    Dropped dropped;
    for (const auto& [rank, record] : ranks) {
      if (gone.contains(rank) && !other.holds(identity, rank)) dropped.ranks.insert(rank);
    }
    dropped.whole = dropped.ranks.size() == ranks.size();
    if (!dropped.ranks.empty()) all.emplace(identity, std::move(dropped));
  }
  return all;
}

void drop(const AllDropped& all, std::vector<Record>& records) {
  if (all.empty()) return;
  std::erase_if(records, [&](Record& record) {
    const auto found = record.undeclared ? all.find(record.identity) : all.end();
    if (found == all.end() || !found->second.ranks.contains(record.piece.rank)) return false;
    if (found->second.whole) leave_out(record);
    return !found->second.whole;
  });
}

/// Leaves all out that nothing declares.
std::int64_t leave_out(const Side& side) {
  for (Record& record : side.state.records) {
    if (record.undeclared) leave_out(record);
  }
  return std::ssize(side.records);
}

/// The ranks that there must be beside those there are.
void name_missing(Side& side) {
  if (!side.lost.empty()) return;
  std::vector<std::int32_t>& missing = side.state.missing_ranks;
  for (std::int32_t rank = 0; rank < side.state.least_ranks; ++rank) {
    if (missing.size() == kMaxRanksListed) break;
    if (!side.present.contains(rank)) missing.push_back(rank);
  }
}

}  // namespace

Lost meet_lost_ranks(State& a, State& b) {
  Side left(a), right(b);
  if (left.records.empty() && right.records.empty()) return {};
  complete(left, right);
  complete(right, left);
  Lost lost;
  if (are_same_ranks(left, right)) {
    const AllDropped of_left = lost_there(left, right);
    const AllDropped of_right = lost_there(right, left);
    drop(of_left, a.records);
    drop(of_right, b.records);
    lost.met = std::ssize(of_left) + std::ssize(of_right);
    return lost;
  }
  for (Side* side : {&left, &right}) {
    if (!side->lacks_ranks() || side->records.empty()) continue;
    name_missing(*side);
    lost.left_out += leave_out(*side);
  }
  return lost;
}

}  // namespace ttcheck::assemble
