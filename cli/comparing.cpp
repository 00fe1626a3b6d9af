#include "cli/comparing.hpp"

#include <algorithm>
#include <utility>

#include "cli/interrupt.hpp"
#include "cli/progress.hpp"

namespace ttcheck::cli {
namespace {

bool known(const compare::Compared& one) { return !one.error && !one.stopped; }

/// True when no rank's own values come as near as ten times the error of the sum.
bool only_sum_fits(const compare::Pair& copies, const compare::Pair& sum, const Metrics& metrics) {
  compare::Pair pair = copies;
  if (sum.reference != copies.reference) std::swap(pair.reference, pair.candidate);
  return std::ranges::none_of(compare::by_rank(pair, interrupted), [&](const RankError& own) {
    return own.metrics.unequal_values == 0 || own.metrics.rel() <= 10 * metrics.rel();
  });
}

/// Is the other way to compare the pair clearly closer?
bool closer(const compare::Pair& pair, const compare::Compared& found, const compare::Pair& other,
            const compare::Compared& found_other) {
  if (!known(found) || !known(found_other)) return false;
  const bool equal = found_other.metrics.unequal_values == 0;
  if (!equal && !(found_other.metrics.rel() < found.metrics.rel() / 10)) return false;
  try {
    return other.mapped() || only_sum_fits(pair, other, found_other.metrics);
  } catch (const Error&) {  // stopped, or no longer readable
    return false;
  }
}

}  // namespace

std::vector<compare::Compared> compare_all(std::span<const compare::Pair> pairs,
                                           const Options& options) {
  Progress progress(options);
  compare::CompareOptions how;
  how.exact_sums = options.exact_sums;
  how.progress = [&](std::uint64_t done, std::uint64_t total) { progress(done, total); };
  how.stop = interrupted;
  return compare::compare(pairs, how);
}

std::int64_t compare_otherwise(Work& work, std::vector<compare::Compared>& compared,
                               const Options& options) {
  std::vector<std::size_t> at;
  std::vector<compare::Pair> pairs;
  for (const Alternative& alternative : work.alternatives) {
    const compare::Compared& found = compared[alternative.pair];
    const bool copies_differ = !found.reference_differs.empty() || !found.candidate_differs.empty();
    const bool wanted = alternative.other.mapped() || copies_differ;
    if (!wanted || found.metrics.unequal_values == 0) continue;
    at.push_back(alternative.pair);
    pairs.push_back(alternative.other);
  }
  if (pairs.empty()) return 0;
  std::vector<compare::Compared> other = compare_all(pairs, options);
  std::int64_t sums = 0;
  for (std::size_t n = 0; n < at.size(); ++n) {
    if (!closer(work.pairs[at[n]], compared[at[n]], pairs[n], other[n])) continue;
    if (!pairs[n].mapped()) ++sums;
    work.pairs[at[n]] = pairs[n];
    compared[at[n]] = std::move(other[n]);
  }
  return sums;
}

std::string_view seen_by(const compare::Pair& pair) {
  const auto summed = [](const Tensor& tensor) {
    return tensor.undeclared && tensor.reduce != Reduce::none;
  };
  const auto of_record = [&](const auto& what) {
    const auto has = [&](const Tensor& tensor) { return tensor.trace && what(*tensor.trace); };
    return has(*pair.reference) || has(*pair.candidate);
  };
  if (pair.mapped()) return "value map";
  if (summed(*pair.reference) || summed(*pair.candidate)) return "sum over ranks";
  if (of_record([](const TraceRecord& record) { return record.left_out > 0; })) {
    return "print of a part";
  }
  return of_record([](const TraceRecord& record) { return record.grain > 0; }) ? "print" : "";
}

}  // namespace ttcheck::cli
