// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/slice_mappings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/partition_cuts.hpp"

namespace ttcheck::formats {
namespace {

DeepspeedSlices planned(const DeepspeedPlan& plan, std::int64_t index) {
  DeepspeedSlices slices;
  const std::int64_t begin = checked_mul(index, plan.part);
  for (const Cut& cut : cuts_of_part(plan.group, plan.starts, begin, plan.part)) {
    slices[plan.group[cut.parameter].name] = {cut.at, cut.count};
  }
  return slices;
}

/// The rank of the group that the slices are of: the one in which its first parameter starts so.
std::optional<std::int64_t> owner_of(const DeepspeedSlices& slices, const DeepspeedPlan& plan) {
  const auto& [name, at] = *slices.begin();
  const auto parameter = std::ranges::find(plan.group, name, &Candidate::name);
  if (parameter == plan.group.end() || plan.part == 0) return std::nullopt;
  const auto i = static_cast<std::size_t>(parameter - plan.group.begin());
  // Of a parameter that fills several parts, those between the first and the last are alike.
  const std::int64_t first = plan.starts[i] / plan.part;
  const std::int64_t last = std::min(plan.starts[i + 1] / plan.part, plan.count - 1);
  for (const std::int64_t index : {first, first + 1, last}) {
    if (index > last) continue;
    const std::int64_t start = std::max<std::int64_t>(plan.starts[i] - index * plan.part, 0);
    if (start == at.first && planned(plan, index) == slices) return index;
  }
  return std::nullopt;
}

bool round_robin(Value root) {
  const Value zero = item_of(item_of(root, "ds_config"), "zero_optimization");
  return item_of(zero, "round_robin_gradients").boolean().value_or(false);
}

}  // namespace

std::optional<DeepspeedSlices> slices_of(Value mapping_of_group) {
  const auto pairs = mapping(mapping_of_group);
  if (!pairs) return std::nullopt;
  DeepspeedSlices slices;
  for (const auto& [key, address] : *pairs) {
    const auto name = key.text();
    std::optional<std::int64_t> start, count;
    for (const auto& [field, value] : attributes(address)) {
      if (field.text() == "start") start = value.integer();
      if (field.text() == "numel") count = value.integer();
    }
    const std::vector<Value> given = construction(address);
    if (!start && given.size() == 2) {  // a plain dataclass call: numel, start
      count = given[0].integer();
      start = given[1].integer();
    }
    if (!name || !start || !count) return std::nullopt;
    slices[std::string(*name)] = {*start, *count};
  }
  return slices;
}

void check_slices(const DeepspeedTag& tag, const DeepspeedRows& rows, std::size_t group,
                  const DeepspeedPlan& plan, State& state) {
  if (group >= rows.slices.size()) return;
  const Where where{tag.path_of(*rows.part), {}, {}};
  WalkBudget& budget = *rows.part->budget;
  const bool spent = budget.spent();
  if (!budget.look_at(rows.slices[group])) {
    if (!spent) {
      state.findings.push_back(
          odd(where, "limit reached: param_slice_mappings is not held against param_shapes"));
    }
    return;
  }
  const auto slices = slices_of(rows.slices[group]);
  if (!slices || *slices == planned(plan, plan.index)) return;
  if (rows.part->exchanged) return;
  const auto owner = slices->empty() ? std::nullopt : owner_of(*slices, plan);
  Finding finding;
  if (owner) {
    finding = found(Code::mixed_step,
                    fmt::format("holds part {} of group {}, its name says part {}: files of two "
                                "ranks were exchanged",
                                *owner, group, plan.index),
                    where);
  } else if (round_robin(rows.part->torch->root())) {
    finding = remark(where,
                     fmt::format("param_slice_mappings of group {} does not follow param_shapes, "
                                 "as round_robin_gradients makes it; param_shapes is used",
                                 group),
                     Code::name_mapping);
  } else {
    finding = odd(where,
                  fmt::format("param_slice_mappings of group {} does not follow param_shapes; "
                              "param_shapes is used",
                              group),
                  Code::name_mapping);
  }
  finding.ranks = {tag.ranks.rank(*rows.part->file.dp, rows.part->file.mp)};
  state.findings.push_back(std::move(finding));
}

}  // namespace ttcheck::formats
