#include "formats/torch_optimizer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/pickle_known.hpp"
#include "formats/torch_distributed.hpp"
#include "formats/torch_facts.hpp"
#include "formats/torch_file.hpp"

namespace ttcheck::formats {
namespace {

const Shape kAnyShape = {-1};

Value entry(const std::vector<Pair>& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name.text() == key) return value;
  }
  return {};
}

/// The shape of the parameter that a state is of: that of its first tensor that is no scalar.
Shape shape_of(const TorchFile& file, Value state) {
  Shape shape = kAnyShape;
  for (const auto& [key, value] : mapping(state).value_or(std::vector<Pair>())) {
    if (!TorchFile::is_tensor(value) || key.text() == "step") continue;
    try {
      if (is_distributed(value)) return distributed_shape(value);
      const TorchTensor tensor = file.tensor(value);
      if (!tensor.shape.empty()) return tensor.shape;
      shape = tensor.shape;
    } catch (const Error&) {
      continue;  // said where the tensor itself is read
    }
  }
  return shape;
}

bool fits(const Shape& state, const Shape& parameter) {
  return state == kAnyShape || state == parameter;
}

/// Indices of the free candidates that fit the shapes, in order, taking the first (or, from the
/// end, the last) that does. Nothing when they do not.
std::optional<std::vector<std::size_t>> subsequence(const std::vector<Shape>& shapes,
                                                    const std::vector<Candidate>& parameters,
                                                    const std::vector<bool>& taken, bool from_end) {
  std::vector<std::size_t> found(shapes.size());
  std::size_t done = 0;
  for (std::size_t k = 0; k < parameters.size() && done < shapes.size(); ++k) {
    const std::size_t p = from_end ? parameters.size() - 1 - k : k;
    const std::size_t s = from_end ? shapes.size() - 1 - done : done;
    if (taken[p] || !fits(shapes[s], parameters[p].shape)) continue;
    found[s] = p;
    ++done;
  }
  if (done < shapes.size()) return std::nullopt;
  return found;
}

struct Group {
  std::vector<Pair> options;
  std::vector<Value> ids;
};

std::vector<Group> read_groups(Value optimizer) {
  std::vector<Group> groups;
  const Value list = entry(mapping(optimizer).value_or(std::vector<Pair>()), "param_groups");
  for (const Value& item : sequence(list).value_or(std::vector<Value>())) {
    Group group;
    group.options = mapping(item).value_or(std::vector<Pair>());
    group.ids = sequence(entry(group.options, "params")).value_or(std::vector<Value>());
    groups.push_back(std::move(group));
  }
  return groups;
}

void add_group_facts(const std::vector<Group>& groups, WalkBudget& budget,
                     std::vector<Fact>& facts) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const auto& [key, value] : groups[g].options) {
      if (key.text() == "params" || key.text() == "param_names") continue;
      if (!budget.look_at(value)) return;
      facts.push_back(fact_of({fmt::format("optimizer.groups.{}.{}", g, path_part(key)), value}));
    }
  }
}

/// Names by the text of an id, where the groups carry them (`param_names`).
void take_given_names(const Group& group, std::unordered_map<std::string, std::string>& names) {
  const auto given = sequence(entry(group.options, "param_names"));
  for (std::size_t i = 0; given && i < given->size() && i < group.ids.size(); ++i) {
    if (const auto name = (*given)[i].text()) names[path_part(group.ids[i])] = *name;
  }
}

/// Optimizers that number nothing list names (FSDP.optim_state_dict).
bool are_names(const std::vector<Group>& groups) {
  return std::ranges::all_of(groups, [](const Group& group) {
    return std::ranges::all_of(group.ids, [](const Value& id) { return id.is(NodeKind::text); });
  });
}

}  // namespace

bool is_optimizer(Value value) {
  const auto pairs = mapping(value);
  return pairs && mapping(entry(*pairs, "state")) && sequence(entry(*pairs, "param_groups"));
}

std::vector<std::vector<std::size_t>> match_groups(const std::vector<std::vector<Shape>>& shapes,
                                                   const std::vector<Candidate>& parameters,
                                                   bool& ambiguous) {
  std::vector<bool> taken(parameters.size(), false);
  std::vector<std::vector<std::size_t>> found;
  for (const std::vector<Shape>& group : shapes) {
    const auto first = subsequence(group, parameters, taken, false);
    if (!first) return {};
    if (subsequence(group, parameters, taken, true) != first) ambiguous = true;
    for (const std::size_t p : *first) taken[p] = true;
    found.push_back(*first);
  }
  return found;
}

void add_optimizer(const Optimizer& optimizer, WalkBudget& budget, Leaves& leaves, State& state) {
  const auto& [file, value, prefix, parameters] = optimizer;
  const std::vector<Group> groups = read_groups(value);
  const std::vector<Pair> pairs = *mapping(value);
  const std::vector<Pair> states = *mapping(entry(pairs, "state"));
  add_group_facts(groups, budget, state.facts);
  std::unordered_map<std::string, Value> by_id;
  for (const auto& [key, held] : states) by_id[path_part(key)] = held;
  std::unordered_map<std::string, std::string> names;
  std::vector<std::vector<Shape>> shapes;
  for (const Group& group : groups) {
    take_given_names(group, names);
    std::vector<Shape>& own = shapes.emplace_back();
    for (const Value& id : group.ids) {
      const auto held = by_id.find(path_part(id));
      own.push_back(held == by_id.end() ? kAnyShape : shape_of(file, held->second));
    }
  }
  if (names.empty() && !parameters.empty() && !are_names(groups)) {
    bool ambiguous = false;
    const auto matched = match_groups(shapes, parameters, ambiguous);
    for (std::size_t g = 0; g < matched.size(); ++g) {
      for (std::size_t i = 0; i < matched[g].size(); ++i) {
        names[path_part(groups[g].ids[i])] = parameters[matched[g][i]].name;
      }
    }
    if (ambiguous && !matched.empty()) {
      state.findings.push_back(
          remark(value.where(),
                 "parameter numbers of the optimizer were given names by order and shape; "
                 "other orders fit too",
                 Code::name_mapping));
    }
    if (matched.empty() && !states.empty()) {
      state.findings.push_back(
          odd(value.where(),
              "parameter numbers of the optimizer fit no order of the model's parameters",
              Code::name_mapping));
    }
  }
  for (const auto& [key, held] : states) {
    const std::string id = path_part(key);
    const auto named = names.find(id);
    const bool by_name = key.is(NodeKind::text);
    const std::string owner = named != names.end() ? named->second : id;
    const bool known = named != names.end() || by_name;
    const std::string stem = known ? owner + "@" : fmt::format("{}.state.{}.", prefix, id);
    for (const auto& [field, inner] : mapping(held).value_or(std::vector<Pair>())) {
      add_leaves(inner, stem + path_part(field), false, budget, leaves);
    }
  }
  for (const auto& [key, inner] : pairs) {
    if (key.text() == "state" || key.text() == "param_groups") continue;
    add_leaves(inner, prefix + "." + path_part(key), false, budget, leaves);
  }
}

}  // namespace ttcheck::formats
