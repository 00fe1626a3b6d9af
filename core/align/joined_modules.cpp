// SPDX-License-Identifier: Apache-2.0
#include "core/align/joined_modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "core/align/joined_content.hpp"
#include "core/align/pair_recast.hpp"
#include "core/align/record_readings.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::string_view kWeight = "weight";

/// What stands behind the last dot.
std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Weights that were loaded, whole, whose rows may be another's.
std::vector<std::size_t> loaded(std::span<const Tensor> tensors,
                                std::span<const std::size_t> alone) {
  std::vector<std::size_t> kept;
  std::ranges::copy_if(alone, std::back_inserter(kept), [&](std::size_t i) {
    const Tensor& one = tensors[i];
    return one.identity.phase == Phase::state && one.kind == Kind::weight &&
           last_part(one.identity.name) == kWeight && one.stored && one.holes.empty() &&
           one.reduce == Reduce::none && !one.undeclared && !one.shape.empty() &&
           element_count(one.shape) > 0 && bits(one.dtype) >= 8;
  });
  return kept;
}

void find(const Some& wholes, const Some& parts, bool in_reference, const Numbers& numbers,
          const ContentOf& content, std::vector<JoinedModules>& found) {
  for (const Joined& one : joined_content(wholes, parts, numbers, content)) {
    JoinedModules made;
    made.in_reference = in_reference;
    made.whole = std::string(module_of(wholes.tensors[one.whole].identity));
    for (const std::size_t part : one.parts) {
      made.parts.emplace_back(module_of(parts.tensors[part].identity));
    }
    made.op = one.op;
    found.push_back(std::move(made));
  }
}

/// A weight or bias of one of the modules: of a whole its parts, of a part itself.
Readings readings_of(std::span<const JoinedModules> modules, bool reference) {
  NameMap<Reading> by_module;
  for (const JoinedModules& one : modules) {
    Reading reading{fmt::format("{}, {}", kEqualBytes, one.op), one.parts, parse_op(one.op)};
    if (one.in_reference == reference) {
      by_module.emplace(one.whole, std::move(reading));
      continue;
    }
    for (const std::string& part : one.parts) {
      by_module.emplace(part, Reading{reading.scheme, {part}, {}});
    }
  }
  return [by_module = std::move(by_module)](const Tensor& tensor) {
    const std::string_view name = tensor.identity.name;
    const std::string_view slot = last_part(name);
    if (slot.size() == name.size()) return std::vector<Reading>();
    const auto found = by_module.find(name.substr(0, name.size() - slot.size() - 1));
    if (found == by_module.end()) return std::vector<Reading>();
    Reading reading = found->second;
    for (std::string& part : reading.parts) {
      part += '.';
      part += slot;
    }
    return std::vector<Reading>{std::move(reading)};
  };
}

void pair(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
          std::span<const JoinedModules> modules) {
  if (modules.empty()) return;
  const Readings left = of_records(readings_of(modules, true));
  const Readings right = of_records(readings_of(modules, false));
  pair_recast(bench, candidate, {left, right}, numbers);
  pair_shared_inputs(bench, left, right);
}

}  // namespace

void pair_joined_modules(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                         const ContentOf& content, std::span<const JoinedModules> known) {
  if (bench.left.empty() || bench.right.empty()) return;
  pair(bench, candidate, numbers, known);
  if (!content) return;
  const auto left = loaded(bench.reference, bench.left);
  const auto right = loaded(bench.candidate, bench.right);
  const Some reference{bench.reference, left}, other{bench.candidate, right};
  find(reference, other, true, numbers, content, bench.done.joined);
  find(other, reference, false, numbers, content, bench.done.joined);
  pair(bench, candidate, numbers, bench.done.joined);
}

}  // namespace ttcheck::align
