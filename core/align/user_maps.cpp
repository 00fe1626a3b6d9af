// SPDX-License-Identifier: Apache-2.0
#include "core/align/user_maps.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <utility>

#include "core/align/map_rules.hpp"
#include "core/align/names.hpp"
#include "core/align/pair_recast.hpp"
#include "core/align/record_readings.hpp"
#include "core/align/rescaling.hpp"

namespace ttcheck::align {
namespace {

KeyOf renamed(const UserMap& rename) {
  return [&rename](const Tensor& tensor) {
    const std::string to = rename.candidate_name(tensor.identity.name);
    return to.empty() ? to : keyed(tensor, to);
  };
}

/// The key of the parameter whose master a tensor is; empty for any other.
KeyOf of_master(const KeyOf& key) {
  return [key](const Tensor& tensor) {
    Tensor parameter;
    parameter.dtype = tensor.dtype;
    parameter.identity.name = parameter_of_master(tensor.identity.name);
    return parameter.identity.name.empty() ? std::string() : key(parameter);
  };
}

/// The key of a tensor of real or complex numbers; empty for integers, which no map rounds.
KeyOf of_reals(const KeyOf& key) {
  return
      [key](const Tensor& tensor) { return is_exact(tensor.dtype) ? std::string() : key(tensor); };
}

}  // namespace

void pair_by_map(Bench& bench, std::vector<Tensor>& candidate, const MapRule& rule,
                 const Numbers& numbers) {
  const UserMap map(rule);
  if (map.rescales()) return;  // applied before any other rule
  if (map.ignores()) {
    return exclude(bench, "map ignore " + rule.reference,
                   [&](const Tensor& tensor) { return map.matches(tensor.identity.name); });
  }
  if (!map.renames()) {
    const Readings readings =
        of_records([&](const Tensor& tensor) { return map.readings(tensor.identity.name); });
    pair_recast(bench, candidate, {readings, readings}, numbers);
    return pair_shared_inputs(bench, readings, readings);
  }
  const KeyOf same = [&](const Tensor& tensor) {
    return map.admits(tensor) ? keyed(tensor, tensor.identity.name) : "";
  };
  pair_by(bench, "map " + rule.reference, renamed(map), same);
  pair_by(bench, "map " + rule.reference, same, renamed(map));
}

void pair_rescaled(Bench& bench, const MapRule& rule, const Numbers& numbers) {
  const UserMap map(rule);
  if (!map.rescales()) return;
  const std::vector<std::string> unknown = unknown_numbers(map.op(), numbers);
  if (!unknown.empty()) {
    bench.done.unknown.insert(unknown.begin(), unknown.end());
    return;
  }
  const auto pair = [&](const KeyOf& left, const KeyOf& right, bool forward) {
    const std::size_t before = bench.done.pairs.size();
    pair_by(bench, fmt::format("map {}, {}", rule.reference, rule.op), left, right);
    for (PairIndex& made : std::span(bench.done.pairs).subspan(before)) {
      const auto there = rescaling_of(map.op(), bench.reference[made.reference].kind, numbers);
      made.rescaling = &bench.done.rescalings.emplace_back(
          forward ? there : Rescaling{there.back, there.forward});
    }
  };
  const KeyOf same =
      of_reals([](const Tensor& tensor) { return keyed(tensor, tensor.identity.name); });
  const KeyOf to = of_reals(renamed(map));
  for (const auto& [left, right] :
       {std::pair(same, to), {of_master(same), to}, {same, of_master(to)}}) {
    pair(right, left, true);
    pair(left, right, false);
  }
}

}  // namespace ttcheck::align
