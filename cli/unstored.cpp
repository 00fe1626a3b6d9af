#include "cli/unstored.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/leftovers.hpp"
#include "core/base/checked.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/tally.hpp"

namespace ttcheck::cli {
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

/// Of the whole tensor, from what the ranks of its pieces recorded; nothing where one of them has
/// none, or they do not count all elements.
std::optional<StoredStats> stats_of(const Tensor& tensor) {
  if (!tensor.terms.empty()) return std::nullopt;
  if (tensor.recorded.empty()) return tensor.trace ? tensor.trace->stats : std::nullopt;
  std::set<std::int32_t> holders;
  for (const Piece& piece : tensor.pieces) holders.insert(piece.rank);
  std::optional<StoredStats> all;
  for (const auto& [rank, record] : tensor.recorded) {
    if (!holders.contains(rank)) continue;
    if (!record || !record->stats) return std::nullopt;
    const StoredStats& part = *record->stats;
    if (!all) {
      all = part;
      continue;
    }
    all->min = std::min(all->min, part.min);
    all->max = std::max(all->max, part.max);
    all->l2 = std::hypot(all->l2, part.l2);
    all->nan = checked_add(all->nan, part.nan);
    all->inf = checked_add(all->inf, part.inf);
    all->numel = checked_add(all->numel, part.numel);
  }
  const bool counted = all && all->numel == element_count(tensor.shape);
  return counted ? all : std::nullopt;
}

/// |b - a| over `size`; 0 where they are the same, NaN included.
double error_of(double a, double b, double size) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double error = std::fabs(b - a) / std::fabs(size);
  return std::isnan(error) ? kInfinite : error;
}

/// The error of that size against a limit on it, with their ratio.
void offer(double error, double limit, TensorResult& result) {
  const double ratio = error == 0 ? 0 : limit > 0 ? error / limit : kInfinite;
  if (ratio < result.ratio) return;
  result.error = error;
  result.ratio = ratio;
}

void compare_stats(const StoredStats& a, const StoredStats& b, TensorResult& result) {
  const Limit& limit = result.limit;
  if (a.nan != b.nan || a.inf != b.inf) return offer(kInfinite, 1, result);
  const double size = std::max(std::fabs(a.min), std::fabs(a.max));
  if (limit.kind == LimitKind::tolerance) {
    for (const auto& [x, y] : {std::pair(a.min, b.min), {a.max, b.max}, {a.l2, b.l2}}) {
      offer(error_of(x, y, limit.atol + limit.rtol * std::fabs(x)), 1, result);
    }
    return;
  }
  offer(error_of(a.l2, b.l2, a.l2), limit.rel, result);
  offer(error_of(a.min, b.min, size), limit.outlier, result);
  offer(error_of(a.max, b.max, size), limit.outlier, result);
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
    TensorResult copy;
    copy.limit = limit;
    if (known) compare_stats(*first->stats, *record->stats, copy);
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

}  // namespace

bool same_hash(const Tensor& reference, const Tensor& candidate) {
  const auto whole = [](const Tensor& tensor) {
    return tensor.replicas.empty() && hashes_of(tensor).size() == 1;
  };
  return reference.shape == candidate.shape && reference.dtype == candidate.dtype &&
         whole(reference) && whole(candidate) &&
         hashes_of(reference).front().second == hashes_of(candidate).front().second;
}

void judge_unstored(const Tensor& reference, const Tensor& candidate, const Limit& limit,
                    std::optional<std::int64_t> step, Verdict& verdict) {
  if (reference.shape != candidate.shape || reference.dtype != candidate.dtype) {
    ++verdict.coverage.paired;
    verdict.findings.push_back(verdict::shape_finding(reference, candidate, step));
    return;
  }
  const Hashes left = hashes_of(reference);
  const Hashes right = hashes_of(candidate);
  const bool hashed = !left.empty() && !right.empty();
  const auto a = stats_of(reference);
  const auto b = stats_of(candidate);
  if (!hashed && (!a || !b)) {
    return report_unread(
        reference,
        Error("bytes were not stored, and there is no hash or statistics of each rank to compare"),
        step, verdict);
  }
  check_copies(reference, limit, "reference", step, verdict);
  ++verdict.coverage.paired;
  TensorResult result;
  result.step = step;
  result.identity = reference.identity;
  result.kind = reference.kind;
  result.shape = reference.shape;
  result.dtype = reference.dtype;
  result.candidate_dtype = candidate.dtype;
  result.trace = reference.trace;
  result.rule = "hash";
  result.limit.source = "stored hash";
  const auto unlike = [&](const auto& one) { return one.second != left.front().second; };
  if (hashed && std::ranges::none_of(right, unlike)) {
    return verdict::add_result(std::move(result), true, verdict);
  }
  if (a && b) {
    result.rule = "statistics";
    result.limit = limit;
    result.limit.source += ", of stored statistics";
    compare_stats(*a, *b, result);
    check_copies(candidate, limit, "candidate", step, verdict);
    result.cast = "stored statistics";
  } else {
    result.error = result.ratio = kInfinite;
    result.wrong_ranks = ranks_unlike(right, left.front().second);
  }
  if (result.ratio > 0) {
    result.cast.clear();
    result.outcome = result.ratio <= 1 ? Outcome::noise : Outcome::diverged;
    result.test = "exact";
  }
  verdict::add_result(std::move(result), true, verdict);
}

void judge_left_out(const Tensor& reference, const Tensor& candidate, TensorResult& result) {
  const auto a = stats_of(reference);
  const auto b = stats_of(candidate);
  if (!a || !b || result.outcome == Outcome::diverged) return;
  TensorResult whole;
  whole.limit = result.limit;
  compare_stats(*a, *b, whole);
  if (whole.ratio <= result.ratio) return;
  result.error = whole.error;
  result.ratio = whole.ratio;
  result.limit.source += ", of stored statistics";
  result.cast.clear();
  result.test = "exact";
  result.outcome = result.ratio <= 1 ? Outcome::noise : Outcome::diverged;
}

}  // namespace ttcheck::cli
