#include "formats/deepspeed_numbered.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed_block.hpp"
#include "formats/deepspeed_cuts.hpp"
#include "formats/deepspeed_experts.hpp"
#include "formats/torch_facts.hpp"
#include "formats/torch_optimizer.hpp"

namespace ttcheck::formats {
namespace {

using Values = std::vector<Value>;
using Matched = std::vector<std::vector<std::size_t>>;

constexpr int kMostTies = 16;  ///< layers that are tried as the tied one
constexpr std::int64_t kMostExperts = std::int64_t{1} << 20;

/// A parameter group of the optimizer: for each number its state, and its master.
struct Group {
  bool experts = false;
  std::vector<std::string> ids;
  Values states, masters;
  Value flat;  ///< all masters of the group in one row (FP16_Optimizer)
};

std::vector<Group> groups_of(Value optimizer, WalkBudget& budget) {
  const Value wrapped = item_of(optimizer, "optimizer_state_dict");
  const Value inner = wrapped ? wrapped : optimizer;
  const Values masters = sequence(item_of(optimizer, "fp32_groups")).value_or(Values());
  const Values flat = sequence(item_of(optimizer, "fp32_groups_flat")).value_or(Values());
  std::unordered_map<std::string, Value> by_id;
  for (const auto& [key, value] : mapping(item_of(inner, "state")).value_or(std::vector<Pair>())) {
    by_id.emplace(path_part(key), value);
  }
  std::vector<Group> groups;
  for (const Value& options : sequence(item_of(inner, "param_groups")).value_or(Values())) {
    const std::size_t g = groups.size();
    Group& group = groups.emplace_back();
    group.experts = item_of(options, "moe").boolean().value_or(false);
    for (const Value& id : sequence(item_of(options, "params")).value_or(Values())) {
      if (!budget.look_at(id)) throw Error("limit reached: too many groups", optimizer.where());
      group.ids.push_back(path_part(id));
      const auto found = by_id.find(group.ids.back());
      group.states.push_back(found == by_id.end() ? Value() : found->second);
    }
    if (g < masters.size()) {
      if (!budget.look_at(masters[g])) {
        throw Error("limit reached: too many masters", optimizer.where());
      }
      group.masters = sequence(masters[g]).value_or(Values());
    }
    if (g < flat.size()) group.flat = flat[g];
  }
  return groups;
}

class Reader {
 public:
  Reader(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights, DeepspeedRoom& room,
         DeepspeedSteps& steps, State& state)
      : tag_(tag), weights_(weights), room_(room), steps_(steps), state_(state) {}

  void read() {
    if (stages_are_unknown()) {
      for (std::int64_t tensor = 0; tensor < tag_.ranks.tp; ++tensor) read_stages(tensor);
      return;
    }
    const auto experts = tag_.of(DeepspeedKind::expert_optimizer);
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      const Value optimizer = item_of(part->torch->root(), "optimizer");
      if (!mapping(optimizer)) continue;
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
      const std::vector<Group> groups = groups_of(optimizer, *part.budget);
      std::vector<Group> dense, expert;
      for (const Group& group : groups) (group.experts ? expert : dense).push_back(group);
      add_groups(dense, dense_parameters(part.file.mp), optimizer);
      add_groups(expert, expert_parameters(part.file.mp, ep_rank), optimizer);
    } catch (const Error& error) {
      ++state_.unreadable;
      state_.findings.push_back(unreadable(error));
    }
  }

  /// Without param_shapes nothing says which stage trains a layer.
  bool stages_are_unknown() const {
    return tag_.pipeline && tag_.ranks.pp > 1 &&
           std::ranges::none_of(tag_.parameters,
                                [](const auto& known) { return !known.second.groups.empty(); });
  }

  struct Stage {
    const DeepspeedPart* part;
    Value optimizer;
    std::vector<Group> groups;
  };

  /// The layers of a tensor-parallel rank are dealt out to the numbers of all stages together, the
  /// first ones to the first stage.
  void read_stages(std::int64_t tensor) {
    std::vector<Stage> stages;
    std::vector<std::vector<Shape>> shapes;
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      const Value optimizer = item_of(part->torch->root(), "optimizer");
      if (part->file.mp % tag_.ranks.tp != tensor || !mapping(optimizer)) continue;
      try {
        part_ = part;
        const Stage& stage =
            stages.emplace_back(part, optimizer, groups_of(optimizer, *part->budget));
        for (const Group& group : stage.groups) {
          if (group.flat)
            throw Error("which layers a flat group holds cannot be told", optimizer.where());
        }
        std::ranges::move(shapes_of(stage.groups), std::back_inserter(shapes));
      } catch (const Error& error) {
        ++state_.unreadable;
        state_.findings.push_back(unreadable(error));
        return;
      }
    }
    if (stages.empty()) return;
    std::vector<Candidate> parameters = dense_parameters(tensor);
    bool ambiguous = false;
    Matched matched;
    if (std::ssize(stages) == tag_.ranks.pp) matched = match_stages(shapes, parameters, ambiguous);
    std::size_t first = 0;
    for (const Stage& stage : stages) {
      part_ = stage.part;
      rank_ = tag_.ranks.rank(0, part_->file.mp);
      if (matched.empty()) {
        leave_out(stage.groups, stage.optimizer);
        continue;
      }
      if (ambiguous) say_ambiguous(stage.optimizer);
      add_matched(stage.groups, parameters, matched, first);
      first += stage.groups.size();
    }
  }

  /// A layer that is tied is on several stages, and comes first there (deepspeed/runtime/pipe/
  /// module.py makes `tied_modules` before the layers). `parameters` gets it once more.
  static Matched match_stages(const std::vector<std::vector<Shape>>& shapes,
                              std::vector<Candidate>& parameters, bool& ambiguous) {
    std::size_t ids = 0;
    for (const auto& group : shapes) ids += group.size();
    if (ids <= parameters.size()) return match_groups(shapes, parameters, ambiguous);
    const std::size_t more = ids - parameters.size();
    int tries = 0;
    for (std::size_t i = 0; i < parameters.size() && tries < kMostTies;) {
      const std::string_view name = parameters[i].name;
      const std::string layer(name.substr(0, name.find('.') + 1));
      std::size_t end = i;
      while (end < parameters.size() && parameters[end].name.starts_with(layer)) ++end;
      if (end - i == more) {
        ++tries;
        const auto at = [&](std::size_t k) {
          return parameters.begin() + static_cast<std::ptrdiff_t>(k);
        };
        std::vector<Candidate> tied(at(i), at(end));
        tied.insert(tied.end(), at(i), at(end));
        tied.insert(tied.end(), parameters.begin(), at(i));
        tied.insert(tied.end(), at(end), parameters.end());
        bool several = false;
        if (Matched matched = match_groups(shapes, tied, several); !matched.empty()) {
          ambiguous = several;
          parameters = std::move(tied);
          return matched;
        }
      }
      i = std::max(end, i + 1);
    }
    return {};
  }

  /// Files of layers have the tensor-parallel rank in their names, others MM.
  bool may_be_of(const DeepspeedWeight& weight, std::int64_t mp) const {
    const DeepspeedFile& file = weight.part->file;
    return file.mp == (file.kind == DeepspeedKind::layer ? mp % tag_.ranks.tp : mp);
  }

  /// The weights of the stage in the module's order: each shared one once, no buffers, no experts.
  std::vector<Candidate> dense_parameters(std::int64_t mp) const {
    std::vector<Candidate> found;
    std::set<std::tuple<const Source*, std::uint64_t, Shape>> seen;
    const auto known = tag_.parameters.find(mp);
    for (const DeepspeedWeight& weight : weights_) {
      if (parse_expert_name(weight.name) || !may_be_of(weight, mp)) continue;
      if (weight.rank != kNoRank && weight.rank != tag_.ranks.rank(0, mp)) continue;
      if (known != tag_.parameters.end() && known->second.buffers.contains(weight.name)) continue;
      if (!seen.emplace(weight.source, weight.offset, weight.shape).second) continue;
      found.push_back({weight.name, weight.shape});
    }
    return found;
  }

  /// The experts of one rank, layer by layer: an equal share of those that there are. Those whose
  /// file is missing are like the others.
  std::vector<Candidate> expert_parameters(std::int64_t mp, std::int64_t ep_rank) {
    std::vector<std::string> layers;
    std::map<std::string, std::map<std::int64_t, std::vector<Candidate>>> all;
    for (const DeepspeedWeight& weight : weights_) {
      const auto expert = parse_expert_name(weight.name);
      if (!expert || !may_be_of(weight, mp)) continue;
      const auto [layer, fresh] = all.try_emplace(expert->layer);
      if (fresh) layers.push_back(expert->layer);
      layer->second[expert->number].push_back({weight.name, weight.shape});
    }
    const std::vector<Value> stated = experts_stated();
    std::vector<Candidate> own;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const auto& experts = all.at(layers[i]);
      const auto& like = std::ranges::max_element(experts, {}, [](const auto& expert) {
                           return expert.second.size();
                         })->second;
      const std::int64_t there = checked_add(experts.rbegin()->first, std::int64_t{1});
      const std::int64_t count = std::max(there, experts_of(stated, i));
      const std::int64_t share = ceil_div(count, tag_.ranks.ep);
      const std::int64_t first = checked_mul(ep_rank, share);
      for (std::int64_t number = first; number < std::min(count, checked_add(first, share));
           ++number) {
        for (const Candidate& parameter : like) {
          std::string name = expert_name(parameter.name, number);
          if (!room_.take(name, state_)) return own;
          own.push_back({std::move(name), parameter.shape});
        }
      }
    }
    return own;
  }

  /// `num_experts`, layer by layer, where it is stated.
  std::vector<Value> experts_stated() const {
    for (const DeepspeedPart* part : tag_.of(DeepspeedKind::model)) {
      auto counts = sequence(item_of(part->torch->root(), "num_experts"));
      if (counts && !counts->empty()) return *std::move(counts);
    }
    return {};
  }

  static std::int64_t experts_of(const std::vector<Value>& stated, std::size_t layer) {
    if (stated.empty()) return 0;
    const std::int64_t count = stated[std::min(layer, stated.size() - 1)].integer().value_or(0);
    return count > kMostExperts ? 0 : count;
  }

  void add_groups(const std::vector<Group>& groups, const std::vector<Candidate>& parameters,
                  Value optimizer) {
    if (groups.empty()) return;
    if (groups.front().flat) return add_flat(groups, parameters);
    bool ambiguous = false;
    const auto matched = match_groups(shapes_of(groups), parameters, ambiguous);
    if (matched.empty()) return leave_out(groups, optimizer);
    if (ambiguous) say_ambiguous(optimizer);
    add_matched(groups, parameters, matched, 0);
  }

  std::vector<std::vector<Shape>> shapes_of(const std::vector<Group>& groups) const {
    std::vector<std::vector<Shape>> shapes;
    for (const Group& group : groups) {
      std::vector<Shape>& own = shapes.emplace_back();
      for (std::size_t i = 0; i < group.ids.size(); ++i) own.push_back(shape_of(group, i));
    }
    return shapes;
  }

  void leave_out(const std::vector<Group>& groups, Value optimizer) {
    for (const Group& group : groups) state_.unreadable += std::ssize(group.ids);
    Finding finding = found(Code::name_mapping,
                            "parameter numbers of the optimizer fit no order of the model's "
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

  /// `first`: the place of the first group in `matched`.
  void add_matched(const std::vector<Group>& groups, const std::vector<Candidate>& parameters,
                   const Matched& matched, std::size_t first) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t i = 0; i < groups[g].ids.size(); ++i) {
        const std::string& name = parameters[matched[first + g][i]].name;
        if (i < groups[g].masters.size()) add(name + "@master", groups[g].masters[i]);
        for (const auto& [key, value] :
             mapping(groups[g].states[i]).value_or(std::vector<Pair>())) {
          add(name + "@" + path_part(key), value);
        }
      }
    }
  }

  /// FP16_Optimizer: a group's parameters lie one behind the other, its state has one number.
  void add_flat(const std::vector<Group>& groups, const std::vector<Candidate>& parameters) {
    const auto starts = starts_of(parameters, {});
    const TorchTensor first = row_of_elements(*part_->torch, groups.front().flat);
    if (groups.size() > 1 || first.shape[0] < starts.back()) {
      throw Error(fmt::format("which parameters {} flat groups of {} elements hold cannot be told; "
                              "the model has {} in {}",
                              groups.size(), first.shape[0], starts.back(), parameters.size()),
                  groups.front().flat.where());
    }
    add_row("@master", groups.front().flat, parameters, starts);
    if (groups.front().states.empty()) return;
    for (const auto& [key, value] :
         mapping(groups.front().states.front()).value_or(std::vector<Pair>())) {
      const std::string suffix = "@" + path_part(key);
      if (suffix == "@step" || !TorchFile::is_tensor(value)) {
        for (const Candidate& parameter : parameters) add(parameter.name + suffix, value);
      } else {
        add_row(suffix, value, parameters, starts);
      }
    }
  }

  void add_row(const std::string& suffix, Value value, const std::vector<Candidate>& parameters,
               const std::vector<std::int64_t>& starts) {
    const TorchTensor row = row_of_elements(*part_->torch, value);
    for (const Cut& cut : cuts_of_part(parameters, starts, 0, row.shape[0])) {
      const Candidate& parameter = parameters[cut.parameter];
      if (!room_.take(parameter.name + suffix, state_)) return;
      Record record = record_of(parameter.name + suffix, row, rank_);
      record.shape = {cut.count};
      record.piece.offset = checked_add(record.piece.offset, byte_size(row.dtype, cut.at));
      std::ranges::move(
          placed(std::move(record), cut.begin, parameter.shape, tag_.place_of(*part_)),
          std::back_inserter(state_.records));
    }
  }

  void add(const std::string& name, Value value) {
    if (!room_.take(name, state_)) return;
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

  Shape shape_of(const Group& group, std::size_t i) const {
    try {
      if (i < group.masters.size() && TorchFile::is_tensor(group.masters[i])) {
        return part_->torch->tensor(group.masters[i]).shape;
      }
    } catch (const Error&) {  // said where the tensor itself is read
    }
    return shape_of_state(*part_->torch, group.states[i]);
  }

  const DeepspeedTag& tag_;
  const std::vector<DeepspeedWeight>& weights_;
  DeepspeedRoom& room_;
  DeepspeedSteps& steps_;
  State& state_;
  const DeepspeedPart* part_ = nullptr;
  std::int32_t rank_ = 0;
  std::set<std::string> numbers_;
};

}  // namespace

void read_numbered(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                   DeepspeedRoom& room, DeepspeedSteps& steps, State& state) {
  Reader(tag, weights, room, steps, state).read();
}

}  // namespace ttcheck::formats
