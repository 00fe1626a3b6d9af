// SPDX-License-Identifier: Apache-2.0
#include "core/align/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

/// Pairs equal identities at equal places: two runs mostly list their tensors in one order.
void pair_in_order(Bench& bench) {
  std::vector<std::size_t> left, right;
  const std::size_t both = std::min(bench.left.size(), bench.right.size());
  for (std::size_t n = 0; n < both; ++n) {
    const std::size_t i = bench.left[n];
    const std::size_t j = bench.right[n];
    if (bench.reference[i].identity == bench.candidate[j].identity) {
      bench.done.pairs.push_back({i, j, std::string(kSameName)});
    } else {
      left.push_back(i);
      right.push_back(j);
    }
  }
  const auto rest = static_cast<std::ptrdiff_t>(both);
  left.insert(left.end(), bench.left.begin() + rest, bench.left.end());
  right.insert(right.end(), bench.right.begin() + rest, bench.right.end());
  bench.left = std::move(left);
  bench.right = std::move(right);
}

}  // namespace

std::string keyed(const Tensor& tensor, std::string_view name) {
  const Identity& id = tensor.identity;
  if (id.phase == Phase::none) return fmt::format("{}\n", name);
  return fmt::format("{}\n{}\n{}\n{}", name, static_cast<int>(id.phase), id.microbatch, id.call);
}

void pair_by(Bench& bench, std::string_view rule, const KeyOf& left_key, const KeyOf& right_key) {
  constexpr std::size_t kTwice = static_cast<std::size_t>(-1);
  NameMap<std::size_t> where;
  for (const std::size_t j : bench.right) {
    std::string key = right_key(bench.candidate[j]);
    if (key.empty()) continue;
    const auto [slot, fresh] = where.try_emplace(std::move(key), j);
    if (!fresh) slot->second = kTwice;
  }
  NameMap<std::size_t> seen;
  std::vector<std::string> keys;
  keys.reserve(bench.left.size());
  for (const std::size_t i : bench.left) {
    keys.push_back(left_key(bench.reference[i]));
    ++seen[keys.back()];
  }
  std::set<std::size_t> used;
  std::vector<std::size_t> rest;
  for (std::size_t n = 0; n < bench.left.size(); ++n) {
    const auto found = keys[n].empty() ? where.end() : where.find(keys[n]);
    if (found == where.end() || found->second == kTwice || seen[keys[n]] > 1) {
      rest.push_back(bench.left[n]);
      continue;
    }
    bench.done.pairs.push_back({bench.left[n], found->second, std::string(rule)});
    used.insert(found->second);
  }
  bench.left = std::move(rest);
  std::erase_if(bench.right, [&](std::size_t j) { return used.contains(j); });
}

void pair_same(Bench& bench) {
  bench.done.pairs.reserve(std::min(bench.left.size(), bench.right.size()));
  pair_in_order(bench);
  const auto hash = [](const Identity* identity) { return IdentityHash{}(*identity); };
  const auto equal = [](const Identity* a, const Identity* b) { return *a == *b; };
  std::unordered_map<const Identity*, std::size_t, decltype(hash), decltype(equal)> where(
      bench.right.size(), hash, equal);
  for (const std::size_t j : bench.right) where.emplace(&bench.candidate[j].identity, j);
  std::erase_if(bench.left, [&](std::size_t i) {
    const auto found = where.find(&bench.reference[i].identity);
    if (found == where.end()) return false;
    bench.done.pairs.push_back({i, found->second, std::string(kSameName)});
    where.erase(found);
    return true;
  });
  std::erase_if(bench.right,
                [&](std::size_t j) { return !where.contains(&bench.candidate[j].identity); });
}

void exclude(Bench& bench, const std::string& rule,
             const std::function<bool(const Tensor&)>& is_out) {
  std::int64_t count = 0;
  const auto take = [&](std::vector<std::size_t>& side, std::span<const Tensor> tensors) {
    count += static_cast<std::int64_t>(
        std::erase_if(side, [&](std::size_t i) { return is_out(tensors[i]); }));
  };
  take(bench.left, bench.reference);
  take(bench.right, bench.candidate);
  if (count > 0) bench.done.excluded_by.emplace_back(rule, count);
}

}  // namespace ttcheck::align
