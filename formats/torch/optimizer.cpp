// SPDX-License-Identifier: Apache-2.0
// torch keeps `state` by a parameter's number, and in `param_groups` the numbers of each group
// beside its options. All optimizers are read before any number gets a name, since those of one
// model divide its parameters between them. Names that groups carry, and ids that are names, are
// taken as they are. Then an optimizer that bears a model's name is dealt that model's
// parameters; the rest are dealt all parameters together, and where that fits no order, each by
// itself (formats/torch/groups). Shapes come from the state: of Adafactor's sums, the row's shape
// and the column's last extent; the container of bitsandbytes is opened first. Where several
// orders fit, a note says so; where none does, a warning, and state keeps its numbers. A state
// that shows no shape fits any parameter; a tensor that cannot be read is told when its record is
// made. Each optimizer, each group and each state is charged to the walk's budget before it is
// read, and so is what is kept of them, since one group may be listed, and one name or state be
// meant, very often. The shape of a state is found once. When the budget is spent, the rest are
// left out, and nothing is said of which names fit.

#include "formats/torch/optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <unordered_map>

#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/distributed.hpp"
#include "formats/torch/facts.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

Value entry(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name.text() == key) return value;
  }
  return {};
}

/// Sums over a parameter's last axis and over the one before (transformers/optimization.py and
/// torch/optim/_adafactor.py, which keeps the summed axis with extent 1).
struct Factors {
  std::string_view row, column;
  bool keeps_axis = false;
};
constexpr std::array<Factors, 2> kFactors = {Factors{"exp_avg_sq_row", "exp_avg_sq_col"},
                                             Factors{"row_var", "col_var", true}};

/// The key under which bitsandbytes keeps the moments of 8 bits with their maps, so that FSDP
/// leaves them whole (bitsandbytes/optim/optimizer.py `Optimizer8bit.state_dict`); older ones lie
/// beside the step.
constexpr std::string_view kQuantised = "__bnb_optimizer_quant_state__";

/// A parameter's state, with what lies in that container beside the rest.
std::vector<KeyValue> fields_of(Value state) {
  std::vector<KeyValue> fields;
  for (const KeyValue& pair : mapping(state).value_or(std::vector<KeyValue>())) {
    const auto inner = pair.first.text() == kQuantised ? mapping(pair.second) : std::nullopt;
    if (inner) {
      fields.insert(fields.end(), inner->begin(), inner->end());
    } else {
      fields.push_back(pair);
    }
  }
  return fields;
}

Shape stated_shape(const TorchFile& file, Value tensor) {
  return is_distributed(tensor) ? distributed_shape(tensor) : file.tensor(tensor).shape;
}

std::optional<Shape> factored_shape(const TorchFile& file, const std::vector<KeyValue>& state) {
  for (const Factors& factors : kFactors) {
    const Value row = entry(state, factors.row), column = entry(state, factors.column);
    if (!TorchFile::is_tensor(row) || !TorchFile::is_tensor(column)) continue;
    Shape shape = stated_shape(file, row);
    const Shape last = stated_shape(file, column);
    if (shape.empty() || last.empty()) continue;
    if (factors.keeps_axis) shape.pop_back();
    shape.push_back(last.back());
    return shape;
  }
  return std::nullopt;
}

struct Group {
  std::vector<KeyValue> options;
  std::vector<Value> ids;
};

/// An optimizer, and what its ids stand for.
struct Held {
  Optimizer optimizer;
  std::vector<KeyValue> pairs, states;
  std::vector<Group> groups;
  std::vector<std::vector<Shape>> shapes;  ///< by group
  NameMap<std::string> names;              ///< by id
};

Group read_group(Value item) {
  Group group;
  group.options = mapping(item).value_or(std::vector<KeyValue>());
  group.ids = sequence(entry(group.options, "params")).value_or(std::vector<Value>());
  return group;
}

void add_group_facts(const Held& held, std::size_t number, WalkBudget& budget, FactAdder& facts) {
  const std::string prefix = number == 0 ? "optimizer" : fmt::format("optimizer_{}", number);
  for (std::size_t g = 0; g < held.groups.size(); ++g) {
    for (const auto& [key, value] : held.groups[g].options) {
      if (key.text() == "params" || key.text() == "param_names") continue;
      Leaf option{fmt::format("{}.groups.{}.{}", prefix, g, path_part(key)), value};
      if (!budget.look_at(value) || !budget.keep(option.path.size())) return;
      if (!facts.add(option)) return;
    }
  }
}

/// Names by the text of an id, where the groups carry them (`param_names`). False when the budget
/// is spent.
bool take_given_names(const Group& group, WalkBudget& budget, NameMap<std::string>& names) {
  const auto given = sequence(entry(group.options, "param_names"));
  for (std::size_t i = 0; given && i < given->size() && i < group.ids.size(); ++i) {
    const auto name = (*given)[i].text();
    if (!name) continue;
    if (!budget.keep(name->size())) return false;
    names[path_part(group.ids[i])] = *name;
  }
  return true;
}

/// Optimizers that number nothing list names (FSDP.optim_state_dict).
bool are_names(const std::vector<Group>& groups) {
  return std::ranges::all_of(groups, [](const Group& group) {
    return std::ranges::all_of(group.ids, [](const Value& id) { return id.is(NodeKind::text); });
  });
}

/// Nothing when the budget is spent.
std::optional<Held> read(const TorchFile& file, const Optimizer& optimizer, WalkBudget& budget) {
  Held held{optimizer, *mapping(optimizer.value), {}, {}, {}, {}};
  held.states = *mapping(entry(held.pairs, "state"));
  NameMap<Value> by_id;
  for (const auto& [key, state] : held.states) by_id[path_part(key)] = state;
  std::unordered_map<NodeId, Shape> known;
  const auto list = sequence(entry(held.pairs, "param_groups"));
  for (const Value& item : list.value_or(std::vector<Value>())) {
    if (!budget.look_at(item)) return std::nullopt;
    const Group& group = held.groups.emplace_back(read_group(item));
    if (!budget.keep(group.options.size() * sizeof(KeyValue))) return std::nullopt;
    if (!take_given_names(group, budget, held.names)) return std::nullopt;
    std::vector<Shape>& own = held.shapes.emplace_back();
    for (const Value& id : group.ids) {
      Shape shape = kAnyShape;
      if (const auto state = by_id.find(path_part(id)); state != by_id.end()) {
        const auto [found, fresh] = known.try_emplace(state->second.id());
        if (fresh && !budget.look_at(state->second)) return std::nullopt;
        if (fresh) found->second = shape_of_state(file, state->second);
        shape = found->second;
      }
      if (!budget.keep(shape.size() * sizeof(std::int64_t))) return std::nullopt;
      own.push_back(std::move(shape));
    }
  }
  return held;
}

/// Gives names to the numbers of these optimizers, as far as the budget goes; false when they fit
/// no order. A finding says it when they fit several.
bool give_names(const std::vector<Held*>& some, const std::vector<Candidate>& parameters,
                WalkBudget& budget, State& state) {
  std::vector<std::vector<Shape>> shapes;
  for (const Held* held : some) std::ranges::copy(held->shapes, std::back_inserter(shapes));
  bool ambiguous = false;
  const auto matched = match_groups(shapes, parameters, ambiguous);
  if (matched.empty()) return false;
  auto group = matched.begin();
  for (Held* held : some) {
    for (std::size_t g = 0; g < held->groups.size(); ++g, ++group) {
      for (std::size_t i = 0; i < group->size(); ++i) {
        const std::string& name = parameters[(*group)[i]].name;
        if (!budget.keep(name.size())) return true;
        held->names[path_part(held->groups[g].ids[i])] = name;
      }
    }
  }
  const auto stated = std::ranges::find_if(some, [](const Held* h) { return !h->states.empty(); });
  if (ambiguous && stated != some.end()) {
    state.findings.push_back(remark((*stated)->optimizer.value.where(),
                                    "parameter numbers of the optimizer were given names by order "
                                    "and shape; other orders fit too",
                                    Code::name_mapping));
  }
  return true;
}

void name_numbers(std::vector<Held>& all, const std::vector<Candidate>& parameters,
                  WalkBudget& budget, State& state) {
  std::vector<Held*> numbered;
  for (Held& held : all) {
    if (held.names.empty() && !parameters.empty() && !are_names(held.groups)) {
      numbered.push_back(&held);
    }
  }
  std::erase_if(numbered, [&](Held* held) {
    std::vector<Candidate> own;
    const std::string prefix = held->optimizer.model + ".";
    std::ranges::copy_if(parameters, std::back_inserter(own), [&](const Candidate& one) {
      return prefix.size() > 1 && one.name.starts_with(prefix);
    });
    return !own.empty() && give_names({held}, own, budget, state);
  });
  if (numbered.size() > 1 && give_names(numbered, parameters, budget, state)) return;
  for (Held* held : numbered) {
    if (budget.spent()) return;
    if (give_names({held}, parameters, budget, state) || held->states.empty()) continue;
    state.findings.push_back(
        odd(held->optimizer.value.where(),
            "parameter numbers of the optimizer fit no order of the model's parameters",
            Code::name_mapping));
  }
}

void add_state(const Held& held, WalkBudget& budget, Leaves& leaves) {
  for (const auto& [key, value] : held.states) {
    if (budget.spent()) return;
    const std::string id = path_part(key);
    const auto named = held.names.find(id);
    const bool by_name = key.is(NodeKind::text);
    const std::string owner = named != held.names.end() ? named->second : id;
    const bool known = named != held.names.end() || by_name;
    const std::string stem =
        known ? owner + "@" : fmt::format("{}.state.{}.", held.optimizer.prefix, id);
    for (const auto& [field, inner] : fields_of(value)) {
      add_leaves(inner, stem + path_part(field), false, budget, leaves);
    }
  }
  for (const auto& [key, inner] : held.pairs) {
    if (key.text() == "state" || key.text() == "param_groups") continue;
    add_leaves(inner, held.optimizer.prefix + "." + path_part(key), false, budget, leaves);
  }
}

}  // namespace

bool is_optimizer(Value value) {
  const auto pairs = mapping(value);
  return pairs && mapping(entry(*pairs, "state")) && sequence(entry(*pairs, "param_groups"));
}

Shape shape_of_state(const TorchFile& file, Value state) {
  const std::vector<KeyValue> pairs = fields_of(state);
  Shape shape = kAnyShape;
  try {
    if (auto factored = factored_shape(file, pairs)) return *std::move(factored);
  } catch (const Error&) {
    return shape;  // said where the tensor itself is read
  }
  for (const auto& [key, value] : pairs) {
    if (!TorchFile::is_tensor(value) || key.text() == "step") continue;
    try {
      const Shape stated = stated_shape(file, value);
      if (!stated.empty()) return stated;
      shape = stated;
    } catch (const Error&) {
      continue;  // said where the tensor itself is read
    }
  }
  return shape;
}

void add_optimizers(const TorchFile& file, const std::vector<Optimizer>& optimizers,
                    const std::vector<Candidate>& parameters, WalkBudget& budget, Leaves& leaves,
                    FactAdder& facts, State& state) {
  std::vector<Held> all;
  for (const Optimizer& optimizer : optimizers) {
    if (!budget.look_at(optimizer.value)) break;  // one may be there under many keys
    auto held = read(file, optimizer, budget);
    if (!held) break;
    all.push_back(*std::move(held));
    add_group_facts(all.back(), all.size() - 1, budget, facts);
  }
  if (!budget.spent()) name_numbers(all, parameters, budget, state);
  leaves.cut = leaves.cut || budget.spent();
  for (const Held& held : all) add_state(held, budget, leaves);
}

}  // namespace ttcheck::formats
