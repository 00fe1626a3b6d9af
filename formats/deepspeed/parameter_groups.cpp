// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/parameter_groups.hpp"

#include "core/base/name_map.hpp"
#include "formats/deepspeed/values.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {
namespace {

using Values = std::vector<Value>;

Shape shape_of(const TorchFile& file, const OptimizerGroup& group, std::size_t i) {
  try {
    if (i < group.masters.size() && TorchFile::is_tensor(group.masters[i])) {
      return file.tensor(group.masters[i]).shape;
    }
  } catch (const Error&) {  // said where the tensor itself is read
  }
  return shape_of_state(file, group.states[i]);
}

}  // namespace

std::vector<OptimizerGroup> optimizer_groups(Value optimizer, WalkBudget& budget) {
  const Value wrapped = item_of(optimizer, "optimizer_state_dict");
  const Value inner = wrapped ? wrapped : optimizer;
  const Values masters = sequence(item_of(optimizer, "fp32_groups")).value_or(Values());
  const Values flat = sequence(item_of(optimizer, "fp32_groups_flat")).value_or(Values());
  NameMap<Value> by_id;
  for (const auto& [key, value] :
       mapping(item_of(inner, "state")).value_or(std::vector<KeyValue>())) {
    by_id.emplace(path_part(key), value);
  }
  std::vector<OptimizerGroup> groups;
  for (const Value& options : sequence(item_of(inner, "param_groups")).value_or(Values())) {
    const std::size_t g = groups.size();
    OptimizerGroup& group = groups.emplace_back();
    group.experts = item_of(options, "moe").boolean().value_or(false);
    for (const Value& id : sequence(item_of(options, "params")).value_or(Values())) {
      group.ids.push_back(path_part(id));
      const auto found = by_id.find(group.ids.back());
      // Its shape is asked for each id that has it.
      if (!budget.look_at(id) || (found != by_id.end() && !budget.look_at(found->second))) {
        throw Error::unable("limit reached: too many groups", optimizer.where());
      }
      group.states.push_back(found == by_id.end() ? Value() : found->second);
    }
    if (g < masters.size()) {
      if (!budget.look_at(masters[g])) {
        throw Error::unable("limit reached: too many masters", optimizer.where());
      }
      group.masters = sequence(masters[g]).value_or(Values());
    }
    if (g < flat.size()) group.flat = flat[g];
  }
  return groups;
}

std::vector<std::vector<Shape>> shapes_of_groups(const TorchFile& file,
                                                 const std::vector<OptimizerGroup>& groups) {
  std::vector<std::vector<Shape>> shapes;
  for (const OptimizerGroup& group : groups) {
    std::vector<Shape>& own = shapes.emplace_back();
    for (std::size_t i = 0; i < group.ids.size(); ++i) own.push_back(shape_of(file, group, i));
  }
  return shapes;
}

}  // namespace ttcheck::formats
