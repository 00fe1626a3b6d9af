// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_recast.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "core/align/names.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {

void pair_recast(Bench& bench, std::vector<Tensor>& candidate, const Families& families,
                 const Numbers& numbers, std::string_view note) {
  Recasts made = recast({bench.reference, bench.left, families.reference},
                        {bench.candidate, bench.right, families.candidate}, numbers);
  std::set<std::size_t> met;
  for (Recast& one : made.pairs) {
    met.insert(one.reference);
    std::string rule =
        one.candidate_scheme == one.reference_scheme
            ? one.reference_scheme + " spellings"
            : fmt::format("{} for {} names", one.candidate_scheme, one.reference_scheme);
    const bool own =
        one.reference_scheme.starts_with("map ") || one.reference_scheme.starts_with(kEqualBytes);
    if (own) rule = one.reference_scheme;
    rule += note;
    if (made.sliced > 0) bench.done.sliced_by.emplace_back(rule, std::exchange(made.sliced, 0));
    bench.done.pairs.push_back({one.reference, candidate.size(), std::move(rule)});
    candidate.push_back(std::move(one.seen));
  }
  std::erase_if(bench.left, [&](std::size_t i) { return met.contains(i); });
  std::erase_if(bench.right,
                [&](std::size_t j) { return std::ranges::binary_search(made.used, j); });
  for (Tensor& part : made.rest) {
    bench.right.push_back(candidate.size());
    candidate.push_back(std::move(part));
  }
  bench.candidate = candidate;
  bench.done.unknown.merge(made.unknown);
}

void pair_masters_recast(Bench& bench, std::vector<Tensor>& candidate, const Families& families,
                         const Numbers& numbers) {
  const auto plain = [](const Readings& readings) {
    return [&readings](const Tensor& tensor) {
      const std::string_view parameter = parameter_of_master(tensor.identity.name);
      if (parameter.empty()) return readings(tensor);
      Tensor weight;
      weight.identity.name = parameter;
      weight.shape = tensor.shape;
      return readings(weight);
    };
  };
  pair_recast(bench, candidate, {plain(families.reference), plain(families.candidate)}, numbers,
              ", master-for-param");
}

}  // namespace ttcheck::align
