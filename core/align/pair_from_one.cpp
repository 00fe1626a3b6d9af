// SPDX-License-Identifier: Apache-2.0
// What tells the next number from the same one is which of the two a weight goes with. Of n values
// the correlation r of two weights that have nothing in common is such that atanh(r) sqrt(n - 3) is
// about standard normal (Fisher, "On the probable error of a coefficient of correlation", 1921),
// and so is the difference of two of them over sqrt(2). Several weights are put together as
// Stouffer did (1949): their sum over the root of their number is standard normal again. Training
// on leaves weights that go together closely; other layers' do not.

#include "core/align/pair_from_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/align/names.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_number.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kSampledPairs = 8;
constexpr std::int64_t kSampledElements = 4096;
constexpr std::size_t kLeastElements = 8;  ///< fewer may go together by chance
constexpr double kBeyondChance = 6;        ///< standard deviations: two of 10^9
constexpr double kClosest = 1 - 1e-12;     ///< of a correlation; beyond it is round-off

/// A name in parts: `layers.`, 7, `.mlp.weight`.
struct Numbered {
  std::string before;
  std::int64_t number = 0;
  std::string rest;

  std::string counted_on(std::int64_t by) const {
    return fmt::format("{}{}{}", before, number + by, rest);
  }
};

std::optional<Numbered> numbered(const Tensor& tensor) {
  if (tensor.identity.phase != Phase::none) return std::nullopt;
  const std::string name = bare(tensor.identity.name);
  const auto around = around_first_number(name);
  if (!around) return std::nullopt;
  return Numbered{std::string(around->before), around->number, std::string(around->rest)};
}

/// One side's names that are the same up to their first number.
struct OfBeginning {
  NameMap<const Tensor*> where;
  std::vector<std::pair<Numbered, const Tensor*>> order;
  bool unique = true;
};

using ByBeginning = std::map<std::string, OfBeginning>;

ByBeginning by_beginning(std::span<const Tensor> tensors, std::span<const std::size_t> alone) {
  ByBeginning all;
  for (const std::size_t i : alone) {
    auto name = numbered(tensors[i]);
    if (!name) continue;
    OfBeginning& group = all[name->before];
    const bool fresh = group.where.emplace(name->counted_on(0), &tensors[i]).second;
    group.unique = group.unique && fresh;
    group.order.emplace_back(*std::move(name), &tensors[i]);
  }
  return all;
}

/// Whether the names of `one` are those of `zero`, each counted on by one.
bool counts_from_one(const OfBeginning& zero, const OfBeginning& one) {
  if (!zero.unique || !one.unique || zero.where.size() != one.where.size()) return false;
  bool apart = false;
  for (const auto& [name, tensor] : zero.order) {
    const auto next = one.where.find(name.counted_on(1));
    if (next == one.where.end() || next->second->shape != tensor->shape) return false;
    apart = apart || !one.where.contains(name.counted_on(0));
  }
  return apart;
}

/// Nothing where one of them is constant, or has a value that is no number.
std::optional<double> correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto n = static_cast<double>(a.size());
  double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean_a += a[i] / n, mean_b += b[i] / n;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = a[i] - mean_a, y = b[i] - mean_b;
    aa += x * x, bb += y * y, ab += x * y;
  }
  const double r = ab / std::sqrt(aa * bb);
  if (!std::isfinite(r)) return std::nullopt;
  return std::clamp(r, -kClosest, kClosest);
}

/// How surely a tensor goes with the next number's, not with the same number's: standard
/// deviations.
std::optional<double> goes_with_next(const Tensor& tensor, const Tensor& next, const Tensor* same,
                                     const ValuesOf& values) {
  const std::int64_t count = std::min(kSampledElements, element_count(tensor.shape));
  const auto read = [&](const Tensor& from) { return values(from, 0, count); };
  const auto own = read(tensor), then = read(next);
  if (!own || !then || own->size() < kLeastElements) return std::nullopt;
  const auto with_next = correlation(*own, *then);
  if (!with_next) return std::nullopt;
  const double root = std::sqrt(static_cast<double>(own->size()) - 3);
  if (same == nullptr) return std::atanh(*with_next) * root;
  const auto there = read(*same);
  const auto with_same = there ? correlation(*own, *there) : std::nullopt;
  if (!with_same) return std::nullopt;
  return (std::atanh(*with_next) - std::atanh(*with_same)) * root / std::sqrt(2.0);
}

bool values_say_so(const OfBeginning& zero, const OfBeginning& one, const ValuesOf& values) {
  const auto beside = [&](const Numbered& name) {
    const auto same = one.where.find(name.counted_on(0));
    return same == one.where.end() ? nullptr : same->second;
  };
  const bool both = std::ranges::any_of(
      zero.order, [&](const auto& entry) { return beside(entry.first) != nullptr; });
  double sum = 0;
  std::size_t asked = 0;
  for (const auto& [name, tensor] : zero.order) {
    const Tensor* const same = beside(name);
    const bool tells = both ? same != nullptr && same->shape == tensor->shape : same == nullptr;
    if (!tells || tensor->kind != Kind::weight) continue;
    const Tensor& next = *one.where.find(name.counted_on(1))->second;
    const auto told = goes_with_next(*tensor, next, same, values);
    if (!told) continue;
    sum += *told;
    if (++asked == kSampledPairs) break;
  }
  return asked > 0 && sum / std::sqrt(static_cast<double>(asked)) > kBeyondChance;
}

/// What stands in front of the numbers of which `one` has the next.
std::set<std::string> counted_from_one(const ByBeginning& zero, const ByBeginning& one,
                                       const ValuesOf& values) {
  std::set<std::string> found;
  for (const auto& [before, group] : zero) {
    const auto other = one.find(before);
    if (other == one.end() || !counts_from_one(group, other->second)) continue;
    if (values_say_so(group, other->second, values)) found.insert(before);
  }
  return found;
}

KeyOf counted_on(const std::set<std::string>& before, std::int64_t by) {
  return [&before, by](const Tensor& tensor) {
    const auto name = numbered(tensor);
    return name && before.contains(name->before) ? keyed(tensor, name->counted_on(by))
                                                 : std::string();
  };
}

bool have_the_same_names(const Bench& bench) {
  const auto left = [&](std::size_t i) -> const std::string& {
    return bench.reference[i].identity.name;
  };
  const auto right = [&](std::size_t j) -> const std::string& {
    return bench.candidate[j].identity.name;
  };
  if (std::ranges::equal(bench.left, bench.right, {}, left, right)) return true;
  if (bench.left.size() != bench.right.size()) return false;
  NameViewSet names;
  for (const std::size_t i : bench.left) names.insert(left(i));
  return std::ranges::all_of(bench.right, [&](std::size_t j) { return names.contains(right(j)); });
}

}  // namespace

void pair_from_one(Bench& bench, const ValuesOf& values) {
  if (!values || have_the_same_names(bench)) return;
  const ByBeginning left = by_beginning(bench.reference, bench.left);
  const ByBeginning right = by_beginning(bench.candidate, bench.right);
  const std::set<std::string> in_candidate = counted_from_one(left, right, values);
  const std::set<std::string> in_reference = counted_from_one(right, left, values);
  if (!in_candidate.empty()) {
    pair_by(bench, kFromOne, counted_on(in_candidate, 1), counted_on(in_candidate, 0));
  }
  if (!in_reference.empty()) {
    pair_by(bench, kFromOne, counted_on(in_reference, 0), counted_on(in_reference, 1));
  }
}

}  // namespace ttcheck::align
