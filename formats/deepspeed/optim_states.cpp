// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/optim_states.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"

namespace ttcheck::formats {
namespace {

using Values = std::vector<Value>;

/// States by flat group: those of the ids in the order of the parameter groups, or a list.
Values states_in_order(Value optimizer, WalkBudget& budget) {
  if (const auto list = sequence(optimizer)) return *list;
  NameMap<Value> by_id;
  for (const auto& [key, value] :
       mapping(item_of(optimizer, "state")).value_or(std::vector<KeyValue>())) {
    by_id.emplace(path_part(key), value);
  }
  Values states;
  for (const Value& group : sequence(item_of(optimizer, "param_groups")).value_or(Values())) {
    for (const Value& id : sequence(item_of(group, "params")).value_or(Values())) {
      if (!budget.look_at(id))
        throw Error::unable("limit reached: too many groups", optimizer.where());
      const auto found = by_id.find(path_part(id));
      states.push_back(found == by_id.end() ? Value() : found->second);
    }
  }
  for (std::size_t i = 0; states.empty() && i < by_id.size(); ++i) {
    const auto found = by_id.find(fmt::format("{}", i));
    if (found == by_id.end()) break;
    states.push_back(found->second);
  }
  return states;
}

class Reader {
 public:
  Reader(const DeepspeedPart& part, State& state) : part_(part), state_(state) {
    rows_.part = &part;
    rows_.optimizer = item_of(part.torch->root(), "optimizer_state_dict");
  }

  DeepspeedRows read() {
    const Value flat = item_of(rows_.optimizer, "fp32_flat_groups");
    rows_.alone = static_cast<bool>(flat);
    rows_.slices = sequence(item_of(rows_.optimizer, "param_slice_mappings")).value_or(Values());
    const Value masters =
        rows_.alone ? flat : item_of(rows_.optimizer, "single_partition_of_fp32_groups");
    const Value inner =
        item_of(rows_.optimizer, rows_.alone ? "optimizer_state_dict" : "base_optimizer_state");
    const Values list = sequence(masters).value_or(Values());
    for (std::size_t g = 0; g < list.size(); ++g) add(g, "@master", list[g]);
    const Values states = states_in_order(inner, *part_.budget);
    for (std::size_t g = 0; g < states.size(); ++g) {
      for (const auto& [key, value] : mapping(states[g]).value_or(std::vector<KeyValue>())) {
        add(g, "@" + path_part(key), value);
      }
    }
    if (list.empty() && states.empty()) {
      ++state_.unreadable;
      state_.findings.push_back(damaged(part_.torch->root().where(),
                                        "holds no partitions of an optimizer that is known"));
    }
    std::ranges::stable_sort(rows_.rows, {}, &DeepspeedRows::Row::group);
    std::ranges::stable_sort(rows_.numbers, {}, &DeepspeedRows::Number::group);
    return std::move(rows_);
  }

 private:
  void add(std::size_t group, const std::string& suffix, Value value) {
    if (rows_.lengths.size() <= group) rows_.lengths.resize(group + 1, 0);
    try {
      if (!part_.budget->look_at(value))
        throw Error::unable("limit reached: too many values", value.where());
      if (is_number(suffix, value)) {
        const auto number = number_of(*part_.torch, value);
        if (number) rows_.numbers.push_back({suffix, group, *number, value.where()});
        return;
      }
      if (!TorchFile::is_tensor(value)) return;
      TorchTensor tensor = row_of_elements(*part_.torch, value);
      // One of a partition of several elements is of the partition, not of an element.
      if (tensor.shape[0] == 1 && rows_.lengths[group] > 1) {
        if (const auto number = number_of(*part_.torch, value)) {
          rows_.numbers.push_back({suffix, group, *number, value.where()});
          return;
        }
      }
      rows_.lengths[group] = std::max(rows_.lengths[group], tensor.shape[0]);
      rows_.rows.push_back({suffix, group, std::move(tensor)});
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error, fmt::format("group {}{}", group, suffix)));
    }
  }

  bool is_number(const std::string& suffix, Value value) const {
    if (!TorchFile::is_tensor(value)) return true;
    return suffix == "@step" || part_.torch->tensor(value).shape.empty();
  }

  const DeepspeedPart& part_;
  State& state_;
  DeepspeedRows rows_;
};

}  // namespace

DeepspeedRows read_rows(const DeepspeedPart& part, State& state) {
  return Reader(part, state).read();
}

}  // namespace ttcheck::formats
