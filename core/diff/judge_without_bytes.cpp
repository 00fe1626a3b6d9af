// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_without_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/checked.hpp"
#include "core/compare/stored_stats.hpp"
#include "core/diff/as_recorded.hpp"
#include "core/diff/meet_leftovers.hpp"
#include "core/model/name_rules.hpp"
#include "core/verdict/coverage.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::diff {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

using Hashes = std::vector<std::pair<std::int32_t, std::string>>;

/// The hash of each rank that holds the tensor whole; empty where one of them has none.
Hashes hashes_of(const Tensor& tensor) {
  if (tensor.pieces.size() > 1 || !tensor.terms.empty() || !tensor.trace) return {};
  Hashes hashes;
  for (const auto& [rank, record] : tensor.recorded) {
    hashes.emplace_back(rank, record ? record->hash : "");
  }
  if (hashes.empty()) hashes.emplace_back(kNoRank, tensor.trace->hash);
  const auto none = [](const auto& one) { return one.second.empty(); };
  return std::ranges::any_of(hashes, none) ? Hashes{} : hashes;
}

std::vector<std::int32_t> ranks_unlike(const Hashes& hashes, const std::string& value) {
  std::vector<std::int32_t> ranks;
  for (const auto& [rank, hash] : hashes) {
    if (hash != value && rank != kNoRank) ranks.push_back(rank);
  }
  return ranks;
}

/// What `add` makes of both, where both are there.
template <class Number, class Add>
std::optional<Number> both(const std::optional<Number>& a, const std::optional<Number>& b,
                           const Add& add) {
  return a && b ? std::optional<Number>(add(*a, *b)) : std::nullopt;
}

/// The statistics of two parts together.
StoredStats joined(const StoredStats& a, const StoredStats& b) {
  const auto sum = [](std::int64_t x, std::int64_t y) { return checked_add(x, y); };
  const auto length = [](double x, double y) { return std::hypot(x, y); };
  const auto mean = [&](double x, double y) {
    const auto left = static_cast<double>(a.numel), right = static_cast<double>(b.numel);
    return (x * left + y * right) / std::max(left + right, 1.0);
  };
  return {std::min(a.min, b.min),        std::max(a.max, b.max),
          both(a.mean, b.mean, mean),    both(a.l2, b.l2, length),
          both(a.nan, b.nan, sum),       both(a.inf, b.inf, sum),
          checked_add(a.numel, b.numel), both(a.l1, b.l1, std::plus<double>())};
}

/// The statistics of the whole tensor, from what the ranks of its pieces recorded; nothing where
/// one of them has none, or they do not count all elements.
std::optional<StoredStats> stats_of(const Tensor& tensor) {
  if (!tensor.terms.empty()) return std::nullopt;
  if (tensor.recorded.empty()) return tensor.trace ? tensor.trace->stats : std::nullopt;
  std::set<std::int32_t> holders;
  for (const Piece& piece : tensor.pieces) holders.insert(piece.rank);
  std::optional<StoredStats> all;
  for (const auto& [rank, record] : tensor.recorded) {
    if (!holders.contains(rank)) continue;
    if (!record || !record->stats) return std::nullopt;
    all = all ? joined(*all, *record->stats) : *record->stats;
  }
  const bool counted = all && all->numel == element_count(tensor.shape);
  return counted ? all : std::nullopt;
}

/// Says of a tensor that several ranks hold whole which of them recorded another hash or, where not
/// all did, other statistics: an error where those are beyond the limit, or copies must be the
/// same.
void check_copies(const Tensor& tensor, const Limit& limit, std::string_view side,
                  std::optional<std::int64_t> step, Verdict& verdict) {
  if (tensor.pieces.size() > 1 || tensor.recorded.empty()) return;
  const Hashes hashes = hashes_of(tensor);
  std::vector<std::int32_t> unlike;
  if (!hashes.empty()) unlike = ranks_unlike(hashes, hashes.front().second);
  const auto& first = tensor.recorded.front().second;
  bool beyond = false;
  for (const auto& [rank, record] : tensor.recorded) {
    const bool known = first && first->stats && record && record->stats;
    compare::StatsError copy;
    if (known) copy = compare::compare_stats(*first->stats, *record->stats, limit);
    if (hashes.empty() && copy.ratio > 0) unlike.push_back(rank);
    beyond = beyond || !known || copy.ratio > 1;
  }
  if (unlike.empty()) return;
  const Mesh& mesh = (side == "reference" ? verdict.reference : verdict.candidate)->mesh;
  Finding finding = verdict::replica_finding(tensor, step, unlike, mesh, side);
  if (!beyond && !verdict::replicas_are_strict(tensor.identity.phase)) {
    finding.severity = Severity::note;
  }
  verdict.findings.push_back(std::move(finding));
}

/// What one rank recorded on each side.
struct RankRecords {
  std::int32_t rank = kNoRank;
  const TraceRecord* reference = nullptr;
  const TraceRecord* candidate = nullptr;
};

std::int32_t only_rank(const Tensor& tensor) {
  return tensor.pieces.empty() ? kNoRank : tensor.pieces.front().rank;
}

bool on_same_ranks(const Tensor& a, const Tensor& b) {
  const auto ranks = [](const auto& x, const auto& y) { return x.first == y.first; };
  return std::ranges::equal(a.recorded, b.recorded, ranks);
}

/// What each rank recorded of its own part, where both sides' ranks hold the same parts of the
/// tensor, so that it is compared with its own; else nothing.
std::vector<RankRecords> by_rank(const Tensor& a, const Tensor& b) {
  if (!a.terms.empty() || !b.terms.empty()) return {};
  if (a.recorded.empty() && b.recorded.empty()) {
    return {{only_rank(b), a.trace.get(), b.trace.get()}};
  }
  const auto places = [](const Piece& x, const Piece& y) {
    const auto boxes = [](const Cell& one, const Cell& other) { return one.box == other.box; };
    return x.rank == y.rank && std::ranges::equal(x.cells, y.cells, boxes);
  };
  const bool cut = a.pieces.size() > 1 && a.replicas.empty() && b.replicas.empty();
  const bool alike = on_same_ranks(a, b) && std::ranges::equal(a.pieces, b.pieces, places);
  if (!alike || !(cut || (a.undeclared && b.undeclared))) return {};
  std::vector<RankRecords> made;
  for (std::size_t i = 0; i < a.recorded.size(); ++i) {
    made.push_back({a.recorded[i].first, a.recorded[i].second.get(), b.recorded[i].second.get()});
  }
  return made;
}

/// Whether hashes are of one function, and of one dtype: `crc32:...` says nothing of `md5:...`.
bool hashes_compare(std::string_view a, std::string_view b, bool same_dtype) {
  return same_dtype && !a.empty() && !b.empty() &&
         a.substr(0, a.find(':')) == b.substr(0, b.find(':'));
}

/// Takes what a rank's statistics say into the result of all.
void take(const compare::StatsError& error, std::int32_t rank, TensorResult& result) {
  if (error.ratio > 1 && rank != kNoRank) result.wrong_ranks.push_back(rank);
  if (error.non_finite) result.test = Test::non_finite;
  if (error.ratio < result.ratio) return;
  result.error = error.error;
  result.allowed = error.allowed;
  result.ratio = error.ratio;
}

/// What was compared, and whether NaN or Inf are alike on both sides.
struct Seen {
  bool enough = true, hashes = true, alike = false;
  bool unlike = false;   ///< hashes differ where statistics were compared
  bool rounded = false;  ///< hashes differ, as rounding makes them in other layouts
};

/// Hashes that differ say that values do: statistics add nothing where they are the same and no
/// value may differ.
bool decides(const compare::StatsError& error, const Limit& limit) {
  return error.ratio == 0 && limit.kind != LimitKind::tolerance && limit.rel == 0;
}

/// Each rank's own record with that of the same rank; `result` has the largest error.
Seen compare_ranks(std::span<const RankRecords> ranks, bool same_dtype, const Limit& limit,
                   TensorResult& result) {
  Seen seen;
  for (const auto& [rank, a, b] : ranks) {
    const bool stats = a && b && a->stats && b->stats;
    const auto error =
        stats ? compare::compare_stats(*a->stats, *b->stats, limit) : compare::StatsError{};
    seen.alike = seen.alike || error.alike;
    const bool hashed = a && b && hashes_compare(a->hash, b->hash, same_dtype);
    if (hashed && a->hash == b->hash) continue;
    if (stats && !(hashed && decides(error, limit))) {
      seen.hashes = false;
      seen.unlike = seen.unlike || hashed;
      take(error, rank, result);
    } else if (hashed) {
      take({kInfinite, 0, kInfinite}, rank, result);
    } else {
      seen.enough = false;
    }
  }
  return seen;
}

/// Compares the whole tensor, which the sides cut in different ways, or of which ranks hold copies.
Seen compare_whole(const Tensor& reference, const Tensor& candidate, const Limit& limit,
                   TensorResult& result) {
  Seen seen;
  const Hashes left = hashes_of(reference);
  const Hashes right = hashes_of(candidate);
  const bool hashed =
      !left.empty() && !right.empty() &&
      hashes_compare(left.front().second, right.front().second, reference.dtype == candidate.dtype);
  const auto unlike = [&](const auto& one) { return one.second != left.front().second; };
  if (hashed && std::ranges::none_of(right, unlike)) return seen;
  const auto a = stats_of(reference);
  const auto b = stats_of(candidate);
  const bool stats = a && b;
  seen.enough = hashed || stats;
  if (!seen.enough) return seen;
  const auto error = stats ? compare::compare_stats(*a, *b, limit) : compare::StatsError{};
  seen.alike = error.alike;
  const bool may_differ = limit.kind == LimitKind::tolerance || limit.rel > 0;
  if (stats && !(hashed && decides(error, limit))) {
    seen.hashes = false;
    seen.unlike = hashed;
    take(error, kNoRank, result);
    if (error.ratio > 1) result.wrong_ranks = ranks_of(candidate);
  } else if (!stats && may_differ && !on_same_ranks(reference, candidate)) {
    seen.rounded = true;
  } else {
    take({kInfinite, 0, kInfinite}, kNoRank, result);
    result.wrong_ranks = ranks_unlike(right, left.front().second);
  }
  return seen;
}

/// Whether ops were paired in their order alone, and one side's ranks hold parts or copies of the
/// other's whole and recorded nothing but hashes and norms.
bool pairs_are_guesses(const Tensor& reference, const Tensor& candidate) {
  const auto guessed = [](const Tensor& tensor) {
    const auto& record = tensor.trace;
    return is_counted(tensor) && (!record->stats || record->stats->l1);
  };
  const bool several = reference.recorded.size() > 1;
  return several != (candidate.recorded.size() > 1) && guessed(reference) && guessed(candidate);
}

/// True where what differs may be another op's: views are many and alike, and what is wrong in one
/// shows in what is computed from it.
bool may_be_another(const Tensor& reference, const Tensor& candidate, double ratio) {
  if (!pairs_are_guesses(reference, candidate)) return false;
  if (reference.shape != candidate.shape || reference.dtype != candidate.dtype) return true;
  const bool moves = reference.trace->counted.moves && candidate.trace->counted.moves;
  return ratio > 1 && (moves || reference.pieces.size() > 1 || candidate.pieces.size() > 1);
}

/// Neither is compared.
void leave_out(Verdict& verdict) {
  verdict::exclude(verdict.coverage, std::string(kOrderOfOps), 2);
}

/// What the errors found so far come to.
void describe(const Tensor& reference, const Tensor& candidate, const Seen& seen,
              const Limit& limit, TensorResult& result) {
  result.rule = seen.hashes ? kByHash : kByStatistics;
  result.limit.source = "stored hash";
  if (!seen.hashes) {
    result.limit = limit;
    result.limit.say(", of stored statistics");
    // Another order of the same values has the same statistics.
    if (element_count(reference.shape) > 0) result.by_limit = Outcome::noise;
  }
  if (result.ratio > 0 || seen.unlike) {
    result.by_limit = result.ratio <= 1 ? Outcome::noise : Outcome::diverged;
    if (result.test == Test::none) result.test = seen.hashes ? Test::hash : Test::statistics;
  }
  if (result.outcome() == Outcome::diverged && !reference.pieces.empty() &&
      !candidate.pieces.empty()) {
    result.places = std::make_shared<const Places>(
        Places{reference.pieces.front().where(), candidate.pieces.front().where()});
  }
}

bool judge(const Tensor& reference, const Tensor& candidate, const Limit& limit, std::size_t place,
           std::optional<std::int64_t> step, Uncompared& uncompared, Verdict& verdict) {
  if (may_be_another(reference, candidate, 0)) {
    leave_out(verdict);
    return false;
  }
  if (reference.shape != candidate.shape ||
      is_exact(reference.dtype) != is_exact(candidate.dtype) ||
      is_complex(reference.dtype) != is_complex(candidate.dtype)) {
    ++verdict.coverage.paired;
    verdict.findings.push_back(verdict::shape_finding(reference, candidate, step));
    return false;
  }
  TensorResult result = verdict::result_of(reference, candidate);
  Seen seen;
  const auto ranks = by_rank(reference, candidate);
  const bool empty = element_count(reference.shape) == 0;
  if (!empty) {
    seen = ranks.empty() ? compare_whole(reference, candidate, limit, result)
                         : compare_ranks(ranks, reference.dtype == candidate.dtype, limit, result);
  }
  if (!seen.enough && result.ratio <= 1) {
    uncompared.add(reference,
                   "bytes were not stored, and there is no hash or statistics of each rank");
    return false;
  }
  if (seen.rounded) {
    uncompared.add(reference,
                   "the stored hashes differ, as those of values within the limit do where ranks "
                   "compute them in another layout, and there are no statistics");
    return false;
  }
  if (may_be_another(reference, candidate, result.ratio)) {
    leave_out(verdict);
    return false;
  }
  if (ranks.empty()) {
    check_copies(reference, limit, "reference", step, verdict);
    if (!seen.hashes) check_copies(candidate, limit, "candidate", step, verdict);
  }
  ++verdict.coverage.paired;
  describe(reference, candidate, seen, limit, result);
  result.step = step;
  result.pair = place;
  verdict::add_result(std::move(result), true, verdict);
  return seen.alike;
}

}  // namespace

bool same_hash(const Tensor& reference, const Tensor& candidate) {
  const auto whole = [](const Tensor& tensor) {
    return tensor.replicas.empty() && hashes_of(tensor).size() == 1;
  };
  return reference.shape == candidate.shape && reference.dtype == candidate.dtype &&
         whole(reference) && whole(candidate) &&
         hashes_of(reference).front().second == hashes_of(candidate).front().second;
}

bool judge_unstored(const MetStep& met, std::size_t place, const Limit& limit,
                    Uncompared& uncompared, Verdict& verdict) {
  const Tensor& reference = *met.pairs[place].reference;
  const Tensor& candidate = *met.pairs[place].candidate;
  const auto judged = [&](const Tensor& left, const Tensor& right) {
    return judge(left, right, limit, place, met.step, uncompared, verdict);
  };
  if (reference.stored == candidate.stored || reference.shape != candidate.shape) {
    return judged(reference, candidate);
  }
  const bool sums = limit.kind == LimitKind::tolerance || limit.rel > 0;
  return judged(reference.stored ? as_recorded(reference, sums) : reference,
                candidate.stored ? as_recorded(candidate, sums) : candidate);
}

Finding alike_note(const Tensor& first, std::int64_t count, std::optional<std::int64_t> step) {
  Finding finding = verdict::note(
      Code::non_finite, step,
      fmt::format("stored statistics are NaN or infinite, the same on both sides, in tensors: {}",
                  count));
  finding.phase = first.identity.phase;
  finding.op = std::string(module_of(first.identity));
  finding.tensor = first.identity.name;
  return finding;
}

void judge_left_out(const Tensor& reference, const Tensor& candidate, TensorResult& result) {
  const auto a = stats_of(reference);
  const auto b = stats_of(candidate);
  if (!a || !b || result.outcome() == Outcome::diverged) return;
  const compare::StatsError whole = compare::compare_stats(*a, *b, result.limit);
  if (whole.ratio <= result.ratio) return;
  verdict::set_test(result, Test::statistics, whole.error, whole.allowed);
  result.limit.say(", of stored statistics");
  result.cast.clear();
  result.by_limit = result.ratio <= 1 ? Outcome::noise : Outcome::diverged;
}

}  // namespace ttcheck::diff
