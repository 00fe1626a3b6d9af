// SPDX-License-Identifier: Apache-2.0
#include "core/diff/copied_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/interrupted.hpp"
#include "core/compare/compare.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/other_steps.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::diff {
namespace {

struct Copied {
  std::int64_t step = 0;
  std::size_t tensors = 0;

  bool operator==(const Copied&) const = default;
};

bool equal_bits(std::span<const compare::Pair> pairs) {
  compare::CompareOptions options;
  options.stop = interrupted;
  return std::ranges::all_of(compare::compare(pairs, options), [](const compare::Compared& one) {
    return one.whole() && one.metrics.unequal_bits == 0;
  });
}

/// The pairs of all tensors of `part` with those of their names in `whole`; none where one has no
/// counterpart of its shape and dtype.
std::vector<compare::Pair> pairs_of(std::span<const Tensor> part, std::span<const Tensor> whole) {
  std::map<std::string_view, const Tensor*> there;
  for (const Tensor& tensor : whole) there.emplace(tensor.identity.name, &tensor);
  std::vector<compare::Pair> pairs;
  for (const Tensor& tensor : part) {
    const auto met = there.find(tensor.identity.name);
    if (met == there.end()) return {};
    const Tensor& other = *met->second;
    if (!tensor.stored || !other.stored || !tensor.holes.empty() || !other.holes.empty() ||
        tensor.dtype != other.dtype || tensor.shape != other.shape) {
      return {};
    }
    pairs.push_back({&tensor, &other});
  }
  std::ranges::stable_sort(
      pairs, {}, [](const compare::Pair& pair) { return logical_bytes(*pair.reference); });
  return pairs;
}

/// The step of `run` that the state is a copy of.
std::optional<Copied> copied_by(const NamedState& named, const Run& run) {
  const Run state = named.open();
  if (state.steps.size() != 1 || state.steps.front()) return std::nullopt;
  std::vector<std::size_t> all(run.steps.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto met = step_met(steps_said(state, run), run, all);
  const std::size_t index = met ? met->index : all.back();
  const OpenedStep part = open_step(state, 0);
  const OpenedStep whole = open_step(run, index);
  const std::vector<compare::Pair> pairs = pairs_of(part.assembly.tensors, whole.assembly.tensors);
  const std::span<const compare::Pair> sorted(pairs);
  if (pairs.empty() || !equal_bits(sorted.first(1)) || !equal_bits(sorted.subspan(1))) {
    return std::nullopt;
  }
  return Copied{*run.steps[index], pairs.size()};
}

/// The copies among a run's named states, by their names.
std::map<std::string, Copied> copies_in(const Run& run) {
  std::map<std::string, Copied> copies;
  if (run.trace || run.steps.empty() || !run.steps.back()) return copies;
  for (const NamedState& named : run.named) {
    if (interrupted() != 0) break;
    try {
      if (const auto copied = copied_by(named, run)) copies.emplace(named.name, *copied);
    } catch (const Error&) {
      continue;  // said where it is compared
    }
  }
  return copies;
}

Finding copy_note(const std::string& name, const Copied& copied, std::string_view where) {
  return verdict::note(
      Code::duplicate_checkpoint, {},
      fmt::format("{} is a copy of step {} {}, bit for bit ({} tensor{})", name, copied.step, where,
                  copied.tensors, copied.tensors == 1 ? "" : "s"));
}

}  // namespace

std::vector<Finding> copies_of_steps(const Run& reference, const Run& candidate) {
  const std::map<std::string, Copied> here = copies_in(reference);
  std::map<std::string, Copied> there = copies_in(candidate);
  std::vector<Finding> notes;
  for (const auto& [name, copied] : here) {
    const auto same = there.find(name);
    const bool both = same != there.end() && same->second == copied;
    notes.push_back(copy_note(name, copied, both ? "on both sides" : "of the reference"));
    if (both) there.erase(same);
  }
  for (const auto& [name, copied] : there) {
    notes.push_back(copy_note(name, copied, "of the candidate"));
  }
  return notes;
}

}  // namespace ttcheck::diff
