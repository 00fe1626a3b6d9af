// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/bytes/findings.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

/// Keys that other readers take.
constexpr std::array<std::string_view, 8> kModelKeys = {"module",
                                                        "optimizer",
                                                        "param_shapes",
                                                        "frozen_param_shapes",
                                                        "frozen_param_fragments",
                                                        "shared_params",
                                                        "buffer_names",
                                                        "sparse_tensor_module_names"};
constexpr std::array<std::string_view, 9> kOptimizerKeys = {"state",
                                                            "param_groups",
                                                            "optimizer_state_dict",
                                                            "base_optimizer_state",
                                                            "fp32_groups",
                                                            "fp32_flat_groups",
                                                            "fp32_groups_flat",
                                                            "single_partition_of_fp32_groups",
                                                            "param_slice_mappings"};

bool is_among(std::span<const std::string_view> keys, Value key) {
  return std::ranges::find(keys, key.text().value_or("")) != keys.end();
}

/// ZeroStageEnum(2), or the number.
std::optional<std::int64_t> stage_of(Value value) {
  if (const auto number = value.integer()) return number;
  const std::vector<Value> given = construction(value);
  return given.size() == 1 ? given[0].integer() : std::nullopt;
}

void add_group_facts(Value groups, WalkBudget& budget, std::vector<Fact>& facts) {
  const std::vector<Value> list = sequence(groups).value_or(std::vector<Value>());
  for (std::size_t g = 0; g < list.size(); ++g) {
    for (const auto& [key, value] : mapping(list[g]).value_or(std::vector<KeyValue>())) {
      if (key.text() == "params" || !budget.look_at(value)) continue;
      facts.push_back(fact_of({fmt::format("optimizer.groups.{}.{}", g, path_part(key)), value}));
    }
  }
}

class Reader {
 public:
  Reader(const DeepspeedTag& tag, State& state) : tag_(tag), state_(state) {}

  void read() {
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      const std::int32_t rank = tag_.ranks.rank(part->file.dp.value_or(0), part->file.mp);
      const Value root = part->torch->root();
      Leaves leaves;
      for (const auto& [key, value] : mapping(root).value_or(std::vector<KeyValue>())) {
        if (is_among(kModelKeys, key)) continue;
        add_leaves(value, path_part(key), false, *part->budget, leaves);
      }
      take(*part, leaves, rank);
      const Value optimizer = item_of(root, "optimizer");
      if (mapping(optimizer))
        facts_.take(optimizer_facts(optimizer, *part->budget), rank, state_.facts);
    }
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::optimizer)) {
      const std::int32_t rank = tag_.ranks.rank(*part->file.dp, part->file.mp);
      const Value optimizer = item_of(part->torch->root(), "optimizer_state_dict");
      facts_.take(optimizer_facts(optimizer, *part->budget), rank, state_.facts);
    }
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::expert_optimizer)) {
      const Value optimizer = item_of(part->torch->root(), "optimizer");
      facts_.take(optimizer_facts(optimizer, *part->budget), kNoRank, state_.facts);
    }
  }

 private:
  void take(const DeepspeedPart& part, const Leaves& leaves, std::int32_t rank) {
    std::vector<Fact> facts;
    for (const Leaf& leaf : leaves.others) facts.push_back(fact_of(leaf));
    facts_.take(facts, rank, state_.facts);
    for (const Leaf& leaf : leaves.tensors) add_tensor(part, leaf, rank);
    if (!leaves.cut) return;
    state_.findings.push_back(beyond(part.torch->root().where(),
                                     "limit reached: values are nested or shared so often that "
                                     "not all paths were followed"));
  }

  /// Tensors that the training script keeps (random states) are each rank's own.
  void add_tensor(const DeepspeedPart& part, const Leaf& leaf, std::int32_t rank) {
    try {
      const TorchTensor tensor = part.torch->tensor(leaf.value);
      if (!tensor.opaque.empty()) throw Error("is a " + tensor.opaque, leaf.value.where());
      Record record = record_of(rank == 0 ? leaf.path : fmt::format("{}.rank.{}", leaf.path, rank),
                                tensor, rank);
      record.kind = Kind::other;
      state_.records.push_back(std::move(record));
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error, leaf.path));
    }
  }

  const DeepspeedTag& tag_;
  State& state_;
  RankFacts facts_;
};

}  // namespace

std::vector<Fact> optimizer_facts(Value optimizer, WalkBudget& budget) {
  std::vector<Fact> facts;
  Leaves leaves;
  Value groups = item_of(optimizer, "param_groups");
  for (const auto& [key, value] : mapping(optimizer).value_or(std::vector<KeyValue>())) {
    const auto text = key.text();
    if (text == "zero_stage") {
      const auto stage = stage_of(value);
      if (stage) facts.push_back({"zero_stage", *stage, FactUse::note, value.where()});
    } else if (text == "optimizer_state_dict" || text == "base_optimizer_state") {
      if (!groups) groups = item_of(value, "param_groups");
    } else if (!is_among(kOptimizerKeys, key)) {
      add_leaves(value, "optimizer." + path_part(key), false, budget, leaves);
    }
  }
  for (const Leaf& leaf : leaves.others) facts.push_back(fact_of(leaf));
  add_group_facts(groups, budget, facts);
  return facts;
}

void read_facts(const DeepspeedTag& tag, State& state) { Reader(tag, state).read(); }

}  // namespace ttcheck::formats
