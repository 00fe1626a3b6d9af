// SPDX-License-Identifier: Apache-2.0
// Where it is known which parameters a rank trains, its optimizer is named alone: dense groups
// from the stage's weights, expert groups from the rank's share of the experts. In a pipeline
// whose files say nothing of stages the optimizers of all stages are taken together, since how
// much each holds is what tells where the next stage begins (formats/deepspeed/pipeline_stages).
// State that fits no order is left out and counted, with a finding; where several orders fit, a
// note says so.
//
// A group is numbered, with a state and a master for each parameter, or flat: one row for all,
// which is cut in the order of its parameters, while its step is the step of each. The budget of
// the tag bounds how many tensors a few numbers may stand for. A model file's copy of what
// expp_rank files hold has no rank, and a partition of BF16_Optimizer in it is passed over.

#include "formats/deepspeed/optimizer_by_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/candidate_parameters.hpp"
#include "formats/deepspeed/group_assignment.hpp"
#include "formats/deepspeed/parameter_groups.hpp"
#include "formats/deepspeed/partition_cuts.hpp"
#include "formats/deepspeed/pipeline_stages.hpp"
#include "formats/deepspeed/tp_blocks.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {
namespace {

class Reader {
 public:
  Reader(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
         DeepspeedBudget& budget, DeepspeedSteps& steps, State& state)
      : tag_(tag), weights_(weights), budget_(budget), steps_(steps), state_(state) {}

  void read() {
    if (stages_are_unknown()) {
      for (std::int64_t tensor = 0; tensor < tag_.ranks.tp; ++tensor) read_stages(tensor);
      return;
    }
    const auto experts = tag_.of(DeepspeedKind::expert_optimizer);
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      const Value optimizer = item_of(part->torch->root(), "optimizer");
      if (!mapping(optimizer) || is_partition(optimizer)) continue;
      // Where expp_rank files hold the same, rank 0's is there twice.
      const std::int32_t rank = experts.empty() ? tag_.ranks.rank(0, part->file.mp) : kNoRank;
      read_optimizer(*part, optimizer, rank, 0);
    }
    for (const DeepspeedPart* part : experts) {
      read_optimizer(*part, item_of(part->torch->root(), "optimizer"),
                     tag_.ranks.rank(*part->file.dp, part->file.mp), *part->file.dp);
    }
  }

 private:
  void read_optimizer(const DeepspeedPart& part, Value optimizer, std::int32_t rank,
                      std::int64_t ep_rank) {
    try {
      part_ = &part;
      rank_ = rank;
      const std::vector<OptimizerGroup> groups = optimizer_groups(optimizer, *part.budget);
      std::vector<OptimizerGroup> dense, expert;
      for (const OptimizerGroup& group : groups) (group.experts ? expert : dense).push_back(group);
      add_groups(dense, dense_parameters(tag_, weights_, part.file.mp), optimizer);
      add_groups(expert, expert_parameters(tag_, weights_, part.file.mp, ep_rank, budget_, state_),
                 optimizer);
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error));
    }
  }

  /// BF16_Optimizer without ZeRO writes what the rank's own optimizer file has here once more.
  static bool is_partition(Value optimizer) {
    return static_cast<bool>(item_of(optimizer, "single_partition_of_fp32_groups"));
  }

  /// Without param_shapes nothing says which stage trains a layer.
  bool stages_are_unknown() const {
    return tag_.pipeline && tag_.ranks.pp > 1 &&
           std::ranges::none_of(tag_.parameters,
                                [](const auto& known) { return !known.second.groups.empty(); });
  }

  /// The layers of a tensor-parallel rank are dealt out to all its stages together.
  void read_stages(std::int64_t tensor) {
    std::vector<DeepspeedStage> stages;
    std::optional<DeepspeedDealt> dealt;
    try {
      for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
        const Value optimizer = item_of(part->torch->root(), "optimizer");
        if (part->file.mp % tag_.ranks.tp != tensor || !mapping(optimizer)) continue;
        stages.emplace_back(part, optimizer, optimizer_groups(optimizer, *part->budget));
      }
      if (std::ssize(stages) == tag_.ranks.pp) dealt = deal(tag_, weights_, stages, tensor);
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error));
      return;
    }
    for (std::size_t s = 0; s < stages.size(); ++s) {
      part_ = stages[s].part;
      rank_ = tag_.ranks.rank(0, part_->file.mp);
      if (!dealt) {
        leave_out(stages[s].groups, stages[s].optimizer);
        continue;
      }
      if (dealt->ambiguous) say_ambiguous(stages[s].optimizer);
      add_assigned(stages[s].groups, dealt->stages[s]);
    }
    if (dealt) place_layers(tag_, weights_, stages, *dealt, tensor, state_);
  }

  void add_groups(const std::vector<OptimizerGroup>& groups,
                  const std::vector<Candidate>& parameters, Value optimizer) {
    if (groups.empty()) return;
    const auto assigned =
        assign(*part_->torch, groups, parameters, weights_of(tag_, weights_, part_->file.mp));
    if (!assigned) return leave_out(groups, optimizer);
    if (assigned->ambiguous) say_ambiguous(optimizer);
    add_assigned(groups, *assigned);
  }

  void leave_out(const std::vector<OptimizerGroup>& groups, Value optimizer) {
    bool flat = false;
    for (const OptimizerGroup& group : groups) {
      state_.unreadable += std::ssize(group.ids);
      flat = flat || group.flat;
    }
    Finding finding = found(Code::name_mapping,
                            flat ? "which parameters its flat groups hold cannot be told; the "
                                   "optimizer's state is left out"
                                 : "parameter numbers of the optimizer fit no order of the model's "
                                   "parameters; its state is left out",
                            optimizer.where());
    finding.incomplete = true;
    state_.findings.push_back(std::move(finding));
  }

  void say_ambiguous(Value optimizer) {
    state_.findings.push_back(
        remark(optimizer.where(),
               "parameter numbers of the optimizer were given names by order and shape; other "
               "orders fit too",
               Code::name_mapping));
  }

  void add_assigned(const std::vector<OptimizerGroup>& groups, const DeepspeedAssigned& assigned) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      groups[g].flat ? add_flat(groups[g], assigned.groups[g])
                     : add_numbered(groups[g], assigned.groups[g]);
    }
  }

  void add_numbered(const OptimizerGroup& group, const std::vector<Candidate>& parameters) {
    for (std::size_t i = 0; i < group.ids.size(); ++i) {
      const std::string& name = parameters[i].name;
      if (i < group.masters.size()) add(name + "@master", group.masters[i]);
      for (const auto& [key, value] : mapping(group.states[i]).value_or(std::vector<KeyValue>())) {
        add(name + "@" + path_part(key), value);
      }
    }
  }

  /// FP16_Optimizer: a group's parameters lie one behind the other, its state has one number.
  void add_flat(const OptimizerGroup& group, const std::vector<Candidate>& parameters) {
    const auto starts = starts_of(parameters, {});
    add_row("@master", group.flat, parameters, starts);
    if (group.states.empty()) return;
    for (const auto& [key, value] :
         mapping(group.states.front()).value_or(std::vector<KeyValue>())) {
      const std::string suffix = "@" + path_part(key);
      if (suffix == "@step" || !TorchFile::is_tensor(value)) {
        for (const Candidate& parameter : parameters) add(parameter.name + suffix, value);
      } else {
        add_row(suffix, value, parameters, starts);
      }
    }
  }

  /// A row that cannot be read costs itself alone.
  void add_row(const std::string& suffix, Value value, const std::vector<Candidate>& parameters,
               const std::vector<std::int64_t>& starts) {
    try {
      add_cuts(suffix, value, parameters, starts);
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error.saying(
          fmt::format("{} of {} parameters: {}", suffix, parameters.size(), error.message()))));
    }
  }

  void add_cuts(const std::string& suffix, Value value, const std::vector<Candidate>& parameters,
                const std::vector<std::int64_t>& starts) {
    const TorchTensor row = row_of_elements(*part_->torch, value);
    for (const Cut& cut : cuts_of_part(parameters, starts, 0, row.shape[0])) {
      const Candidate& parameter = parameters[cut.parameter];
      if (!budget_.take(parameter.name + suffix, state_)) return;
      Record record = record_of(parameter.name + suffix, row, rank_);
      record.shape = {cut.count};
      record.piece.offset = checked_add(record.piece.offset, byte_size(row.dtype, cut.at));
      std::ranges::move(
          placed(std::move(record), cut.begin, parameter.shape, tag_.place_of(*part_)),
          std::back_inserter(state_.records));
    }
  }

  void add(const std::string& name, Value value) {
    if (!budget_.take(name, state_)) return;
    try {
      if (name.ends_with("@step") || !TorchFile::is_tensor(value)) {
        const auto number = number_of(*part_->torch, value);
        if (!number) return;
        steps_.note(*part_, name, *number);
        if (numbers_.insert(name).second) {
          state_.facts.push_back({name, *number, use_of(name), value.where()});
        }
        return;
      }
      const TorchTensor tensor = part_->torch->tensor(value);
      if (!tensor.opaque.empty()) throw Error("is a " + tensor.opaque, value.where());
      std::ranges::move(placed(record_of(name, tensor, rank_), tag_.place_of(*part_)),
                        std::back_inserter(state_.records));
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error, name));
    }
  }

  const DeepspeedTag& tag_;
  const std::vector<DeepspeedWeight>& weights_;
  DeepspeedBudget& budget_;
  DeepspeedSteps& steps_;
  State& state_;
  const DeepspeedPart* part_ = nullptr;
  std::int32_t rank_ = 0;
  std::set<std::string> numbers_;
};

}  // namespace

void read_numbered(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                   DeepspeedBudget& budget, DeepspeedSteps& steps, State& state) {
  Reader(tag, weights, budget, steps, state).read();
}

}  // namespace ttcheck::formats
