// SPDX-License-Identifier: Apache-2.0
#include "core/diff/judge_other_ways.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/interrupted.hpp"
#include "core/diff/compare_all.hpp"

namespace ttcheck::diff {
namespace {

constexpr double kCloser = 10;      ///< times that another way must come closer
constexpr double kPartsCloser = 3;  ///< so too of parts: what is misplaced is unlike
constexpr double kMisplaced = 0.1;  ///< relative error from which a tensor may be

bool sums_up(const Tensor& tensor) { return tensor.undeclared && tensor.reduce != Reduce::none; }

bool sums_up(const compare::Pair& pair) {
  return sums_up(*pair.reference) || sums_up(*pair.candidate);
}

/// True when no rank's own values come as near as ten times the error of the sum.
bool only_sum_fits(const compare::Pair& copies, const compare::Pair& sum, const Metrics& metrics) {
  compare::Pair pair = copies;
  if (sum.reference != copies.reference) std::swap(pair.reference, pair.candidate);
  return std::ranges::none_of(compare::by_rank(pair, interrupted), [&](const RankError& own) {
    return own.metrics.unequal_values == 0 || own.metrics.rel() <= kCloser * metrics.rel();
  });
}

/// Is the other way to compare the pair clearly closer?
bool closer(const compare::Pair& pair, const compare::Compared& found, const Alternative& way,
            const compare::Compared& found_other) {
  if (!found.whole() || !found_other.whole()) return false;
  const bool equal = found_other.metrics.unequal_values == 0;
  const double times = way.parts ? kPartsCloser : kCloser;
  if (!equal && !(found_other.metrics.rel() < found.metrics.rel() / times)) return false;
  try {
    return !sums_up(way.other) || way.parts || only_sum_fits(pair, way.other, found_other.metrics);
  } catch (const Error&) {  // stopped, or no longer readable
    return false;
  }
}

bool wanted(const Alternative& way, const compare::Compared& found) {
  if (found.metrics.unequal_values == 0) return false;
  if (way.parts) return found.metrics.rel() > kMisplaced;
  return way.other.mapped() || !found.reference_differs.empty() || !found.candidate_differs.empty();
}

/// The closest of a pair's other ways (by index), by pair, where it is clearly closer than the
/// first.
std::map<std::size_t, std::size_t> closest(const Work& work, std::span<const std::size_t> ways,
                                           std::span<const compare::Compared> compared,
                                           std::span<const compare::Compared> others) {
  std::map<std::size_t, std::size_t> best;
  for (std::size_t n = 0; n < ways.size(); ++n) {
    const Alternative& way = work.alternatives[ways[n]];
    if (!closer(work.pairs[way.pair], compared[way.pair], way, others[n])) continue;
    const auto [slot, fresh] = best.emplace(way.pair, n);
    const double error = others[slot->second].metrics.rel();
    if (!fresh && others[n].metrics.rel() < error) slot->second = n;
  }
  return best;
}

/// Who a tensor is but for its layer, the first number in its name, wherever that stands; nothing
/// of an op that is named by a counter.
std::optional<Identity> but_for_layer(const Tensor& tensor) {
  if (is_counted(tensor)) return std::nullopt;
  const std::string& name = tensor.identity.name;
  Identity identity = tensor.identity;
  identity.name.clear();
  std::string layer;
  for (auto at = name.begin(); at != name.end();) {
    const auto number = std::find_if(at, name.end(), is_digit);
    const auto end = std::find_if_not(number, name.end(), is_digit);
    identity.name.append(at, number);
    if (layer.empty()) layer.assign(number, end);
    const std::string found(number, end);
    identity.name += found == layer ? "#" : found;
    at = end;
  }
  if (layer.empty()) return std::nullopt;
  return identity;
}

/// Tensors that ranks hold as copies of what the other side has.
std::set<Identity> held_as_copies(const Work& work, std::span<const compare::Compared> compared,
                                  const std::map<std::size_t, std::size_t>& otherwise) {
  std::set<Identity> copies;
  for (std::size_t i = 0; i < work.pairs.size(); ++i) {
    const compare::Pair& pair = work.pairs[i];
    const auto held = [](const Tensor& side) { return side.undeclared && !side.replicas.empty(); };
    if (!(held(*pair.reference) || held(*pair.candidate)) || otherwise.contains(i)) continue;
    if (!compared[i].plain() || compared[i].metrics.reference_constant) continue;
    if (!(compared[i].metrics.rel() < kMisplaced)) continue;
    if (auto sister = but_for_layer(*pair.reference)) copies.insert(std::move(*sister));
  }
  return copies;
}

}  // namespace

Otherwise compare_otherwise(Work& work, std::vector<compare::Compared>& compared,
                            const DiffOptions& how) {
  std::vector<std::size_t> ways;
  std::vector<compare::Pair> pairs;
  for (std::size_t i = 0; i < work.alternatives.size(); ++i) {
    const Alternative& way = work.alternatives[i];
    if (!wanted(way, compared[way.pair])) continue;
    ways.push_back(i);
    pairs.push_back(way.other);
  }
  Otherwise count;
  if (pairs.empty()) return count;
  std::vector<compare::Compared> others = compare_all(pairs, how);
  const auto best = closest(work, ways, compared, others);
  const auto copies = held_as_copies(work, compared, best);
  for (const auto& [pair, n] : best) {
    const Alternative& way = work.alternatives[ways[n]];
    const bool sum = sums_up(way.other);
    const auto sister = but_for_layer(*way.other.reference);
    if (sum && sister && copies.contains(*sister)) continue;
    if (sum) ++count.sums;
    if (way.parts) ++count.parts;
    work.pairs[pair] = way.other;
    compared[pair] = std::move(others[n]);
  }
  return count;
}

std::string_view seen_by(const compare::Pair& pair) {
  const auto of_record = [&](const auto& what) {
    const auto has = [&](const Tensor& tensor) { return tensor.trace && what(*tensor.trace); };
    return has(*pair.reference) || has(*pair.candidate);
  };
  if (pair.mapped()) return "value map";
  if (sums_up(pair)) return "sum over ranks";
  if (of_record([](const TraceRecord& record) { return record.left_out > 0; })) {
    return "print of a part";
  }
  return of_record([](const TraceRecord& record) { return record.grain > 0; }) ? "print" : "";
}

}  // namespace ttcheck::diff
