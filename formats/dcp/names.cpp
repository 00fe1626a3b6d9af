// SPDX-License-Identifier: Apache-2.0
// A key does not say where an optimizer's path ends and where a parameter's name does, as both
// have dots. It is found in four passes, each of which uses the one before: optimizers, by what
// stands in front of `param_groups`, or by a known root in front of `.state.`; plain tensors, in
// the order of the saved paths; the container of the model (`model.`, `module.`); and the
// parameters' canonical names. A key of state is then split by its saved path, else behind the
// longest parameter that it begins with, else at its last dot.
//
// Where no paths were saved, `model` may be the first part of a name, and is a container only if
// all plain tensors lie in it. Two keys of one canonical name stay apart as `<name>#<n>`, with a
// finding. Numbers of parameters that fit no order of the model get no names, also with a
// finding.

#include "formats/dcp/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"
#include "formats/torch/optimizer.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kState = "state.";
constexpr std::string_view kGroups = "param_groups";
constexpr std::string_view kParallel = "module.";

/// Roots that are optimizers also where no groups were saved.
constexpr std::array<std::string_view, 6> kOptimizers = {
    "optim", "optimizer", "optimizers", "optimizer_state_dict", "optimizer_states", "opt"};

/// The part of a key in front of the component `word`, if it has one.
std::optional<std::string_view> before(std::string_view key, std::string_view word) {
  for (std::size_t at = key.find(word); at != std::string_view::npos; at = key.find(word, at + 1)) {
    const bool starts = at == 0 || key[at - 1] == '.';
    const std::size_t end = at + word.size();
    if (starts && (end == key.size() || key[end] == '.')) {
      return at == 0 ? std::string_view() : key.substr(0, at - 1);
    }
  }
  return std::nullopt;
}

}  // namespace

DcpNames::DcpNames(const std::vector<const DcpMetadata*>& tables) : tables_(tables) {
  find_optimizers();
  std::vector<Entry> plain = list_plain();
  find_container(plain);
  list_parameters(std::move(plain));
}

void DcpNames::find_optimizers() {
  std::set<std::string, std::less<>> found;
  const auto look = [&](std::string_view key) {
    if (const auto root = before(key, kGroups)) found.emplace(*root);
    const std::string_view root = key.substr(0, key.find('.'));
    const bool known = std::ranges::find(kOptimizers, root) != kOptimizers.end();
    if (known && key.substr(root.size()).starts_with(".state.")) found.emplace(root);
  };
  for (const DcpMetadata* table : tables_) {
    for (const DcpTensor& tensor : table->tensors) look(tensor.name);
    for (const DcpItem& item : table->items) look(item.name);
  }
  optimizers_.assign(found.begin(), found.end());
  by_parts_ = DottedNames({optimizers_.begin(), optimizers_.end()});
}

std::optional<DcpNames::Below> DcpNames::below_any_optimizer(std::string_view key) const {
  for (const std::size_t length : by_parts_.lengths_in(key)) {
    if (length == key.size()) break;
    const std::string_view optimizer = key.substr(0, length);
    const std::string_view rest = key.substr(length == 0 ? 0 : length + 1);
    if (rest.starts_with(kState)) return Below{DcpKey::Role::state, optimizer, rest};
    if (rest == kGroups) return Below{DcpKey::Role::groups, optimizer, rest};
    if (rest.starts_with(kGroups) && rest[kGroups.size()] == '.') {
      return Below{DcpKey::Role::option, optimizer, rest};
    }
  }
  return std::nullopt;
}

bool DcpNames::is_plain(std::string_view key) const { return !below_any_optimizer(key); }

DcpKey DcpNames::key(std::string_view key) const {
  DcpKey out;
  const auto below = below_any_optimizer(key);
  if (!below) {
    const auto own = apart_.find(key);
    out.name = own == apart_.end() ? canonical(key, path_of(key)) : own->second;
    return out;
  }
  out.role = below->role;
  out.optimizer = below->optimizer;
  if (out.role == DcpKey::Role::state) split_state(key, below->rest.substr(kState.size()), out);
  if (out.role != DcpKey::Role::option) return out;
  const std::string_view option = below->rest.substr(kGroups.size() + 1);
  const std::size_t first = option.find('.');
  const bool listed = is_number(option.substr(0, first));
  const std::size_t cut = listed ? first : option.rfind('.');
  out.owner = option.substr(0, cut);
  out.field = cut == std::string_view::npos ? "" : option.substr(cut + 1);
  return out;
}

/// Parameter and field of `<parameter>.<field>`: by the path that was saved, by a parameter of that
/// name, or at the last dot.
void DcpNames::split_state(std::string_view key, std::string_view rest, DcpKey& out) const {
  const std::vector<std::string>* const path = path_of(key);
  if (path != nullptr && path->size() >= 3) {
    const std::vector<std::string>& parts = *path;
    std::size_t left = key.size() - rest.size();  // up to and with the dot behind `state`
    for (std::size_t i = 0; i + 2 < parts.size() && left > 0; ++i) {
      if (parts[i].size() + 1 > left) break;
      left -= parts[i].size() + 1;
      if (left > 0) continue;
      out.owner = parts[i + 1];
      out.field = rest.substr(std::min(rest.size(), out.owner.size() + 1));
      return;
    }
  }
  std::vector<std::size_t> lengths = parameters_by_parts_.lengths_in(rest);
  if (!lengths.empty() && lengths.back() == rest.size()) lengths.pop_back();
  const bool known = !lengths.empty() && lengths.back() > 0;
  const std::size_t dot = known ? lengths.back() : rest.rfind('.');
  out.owner = rest.substr(0, dot);
  out.field = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
}

/// The plain keys of tensors, each once: by the paths that were saved, then by the tables.
std::vector<DcpNames::Entry> DcpNames::list_plain() {
  std::vector<const Entry*> order;
  const auto entry_of = [&](std::string_view key) -> Entry& {
    const auto [known, fresh] = keys_.try_emplace(key);
    if (fresh) order.push_back(&known->second);
    return known->second;
  };
  std::size_t most = 0;
  for (const DcpMetadata* table : tables_) {
    most += std::max(table->paths.size(), table->tensors.size());
  }
  keys_.reserve(most);
  for (const DcpMetadata* table : tables_) {
    for (const DcpPath& path : table->paths) {
      Entry& entry = entry_of(path.name);
      if (entry.path == nullptr) entry.path = &path.parts;
    }
  }
  for (const DcpMetadata* table : tables_) {
    for (const DcpTensor& tensor : table->tensors) {
      if (!is_plain(tensor.name)) continue;
      Entry& entry = entry_of(tensor.name);
      if (entry.tensor == nullptr) entry.tensor = &tensor;
    }
  }
  std::vector<Entry> plain;
  plain.reserve(order.size());
  for (const Entry* entry : order) {
    if (entry->tensor != nullptr) plain.push_back(*entry);
  }
  return plain;
}

void DcpNames::find_container(const std::vector<Entry>& plain) {
  if (plain.empty()) return;
  const bool paths =
      std::ranges::any_of(tables_, [](const DcpMetadata* table) { return !table->paths.empty(); });
  // First and second component of the model's tensors, and how many have them.
  const auto component = [](const Entry& entry, std::size_t depth) -> std::string_view {
    if (entry.path != nullptr) {
      return entry.path->size() > depth + 1 ? std::string_view((*entry.path)[depth])
                                            : std::string_view();
    }
    std::string_view rest = entry.tensor->name;
    for (std::size_t d = 0; d < depth; ++d)
      rest.remove_prefix(std::min(rest.size(), rest.find('.') + 1));
    const std::size_t dot = rest.find('.');
    return dot == std::string_view::npos ? std::string_view() : rest.substr(0, dot);
  };
  const auto choose = [&](std::size_t depth) -> std::string_view {
    for (const std::string_view name : {"model", "module", "state_dict", "model_state_dict"}) {
      const auto within = [&](const Entry& entry) { return component(entry, depth) == name; };
      // Without the paths a first component may be part of a parameter's name: then all have it.
      const bool found =
          paths ? std::ranges::any_of(plain, within) : std::ranges::all_of(plain, within);
      if (found) return name;
    }
    return {};
  };
  if (const std::string_view root = choose(0); !root.empty()) {
    container_ = fmt::format("{}.", root);
    return;
  }
  const std::string_view first = component(plain.front(), 0);
  const bool shared =
      !first.empty() && paths &&
      std::ranges::all_of(plain, [&](const Entry& entry) { return component(entry, 0) == first; });
  if (!shared) return;
  if (const std::string_view root = choose(1); !root.empty()) {
    container_ = fmt::format("{}.{}.", first, root);
  }
}

const std::vector<std::string>* DcpNames::path_of(std::string_view key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() ? nullptr : known->second.path;
}

bool DcpNames::in_container(std::string_view key, const std::vector<std::string>* path) const {
  if (container_.empty() || !key.starts_with(container_)) return false;
  // A key that only looks as if it lay in the container is a name with a dot in it.
  return path == nullptr || path->size() >= 2;
}

std::string DcpNames::canonical(std::string_view key, const std::vector<std::string>* path) const {
  if (in_container(key, path)) key.remove_prefix(container_.size());
  std::string name = without_wrappers(std::string(key));
  if (parallel_ && name.starts_with(kParallel)) name.erase(0, kParallel.size());
  return name;
}

void DcpNames::list_parameters(std::vector<Entry> plain) {
  const auto name_of = [&](const Entry& entry) {
    return canonical(entry.tensor->name, entry.path);
  };
  parallel_ = !plain.empty() && std::ranges::all_of(plain, [&](const Entry& entry) {
    return name_of(entry).starts_with(kParallel);
  });
  std::ranges::stable_partition(
      plain, [&](const Entry& entry) { return in_container(entry.tensor->name, entry.path); });
  parameters_.reserve(plain.size());
  known_.reserve(plain.size());
  for (const Entry& entry : plain) {
    std::string name = name_of(entry);
    if (known_.contains(name)) name = kept_apart(*entry.tensor, name);
    known_.emplace(parameters_.emplace_back(std::move(name)), entry.tensor);
  }
  parameters_by_parts_ = DottedNames({parameters_.begin(), parameters_.end()});
}

std::map<std::string, std::vector<std::string>> DcpNames::option_owners() const {
  std::map<std::string, std::vector<std::string>> owners;
  for (const DcpMetadata* table : tables_) {
    for (const DcpPath& path : table->paths) {
      if (is_plain(path.name)) continue;
      DcpKey found = key(path.name);
      if (found.role == DcpKey::Role::option) {
        owners[found.optimizer].push_back(std::move(found.owner));
      }
    }
  }
  return owners;
}

/// Gives a key a name of its own where what it lies in was all that told it from another one.
std::string DcpNames::kept_apart(const DcpTensor& tensor, const std::string& taken) {
  std::string name;
  int& number = namesakes_.try_emplace(taken, 2).first->second;
  do {
    name = fmt::format("{}#{}", taken, number++);
  } while (known_.contains(name));
  apart_.emplace(tensor.name, name);
  Finding finding = odd(tables_.front()->where,
                        fmt::format("{} and {} have the name {} here; the latter is {}",
                                    known_.at(taken)->name, tensor.name, taken, name),
                        Code::name_mapping);
  finding.tensor = name;
  findings_.add(std::move(finding));
  return name;
}

void DcpNames::name_numbers(const std::string& optimizer,
                            const std::vector<std::vector<std::string>>& groups,
                            std::vector<Finding>& findings) {
  NameMap<Shape> shapes;
  for (const DcpMetadata* table : tables_) {
    for (const DcpTensor& tensor : table->tensors) {
      const DcpKey found = key(tensor.name);
      if (found.role != DcpKey::Role::state || found.optimizer != optimizer) continue;
      if (!is_number(found.owner) || found.field == "step") continue;
      Shape& shape = shapes.try_emplace(found.owner, tensor.size).first->second;
      if (shape.empty()) shape = tensor.size;
    }
  }
  if (shapes.empty()) return;
  std::vector<Candidate> candidates;
  for (const std::string& name : parameters_) {
    const DcpTensor& tensor = *known_.at(name);
    if (!is_parameter(name) || !tensor.dtype || is_exact(*tensor.dtype)) continue;
    candidates.push_back({name, tensor.size});
  }
  std::vector<std::vector<Shape>> wanted;
  for (const auto& group : groups) {
    std::vector<Shape>& own = wanted.emplace_back();
    for (const std::string& number : group) {
      const auto shape = shapes.find(number);
      own.push_back(shape == shapes.end() ? kAnyShape : shape->second);
    }
  }
  bool ambiguous = false;
  const auto matched = match_groups(wanted, candidates, ambiguous);
  for (std::size_t g = 0; g < matched.size(); ++g) {
    for (std::size_t i = 0; i < matched[g].size(); ++i) {
      numbers_[optimizer + "\n" + groups[g][i]] = candidates[matched[g][i]].name;
    }
  }
  const Where& where = tables_.front()->where;
  if (matched.empty()) {
    findings.push_back(
        odd(where, "parameter numbers of the optimizer fit no order of the model's parameters",
            Code::name_mapping));
  } else if (ambiguous) {
    findings.push_back(remark(where,
                              "parameter numbers of the optimizer were given names by order and "
                              "shape; other orders fit too",
                              Code::name_mapping));
  }
}

std::string DcpNames::tensor(std::string_view key) const {
  DcpKey found = this->key(key);
  if (found.role == DcpKey::Role::plain) return std::move(found.name);
  if (found.role != DcpKey::Role::state) return std::string(key);
  if (is_number(found.owner)) {
    const auto named = numbers_.find(found.optimizer + "\n" + found.owner);
    if (named == numbers_.end()) return std::string(key);
    return named->second + "@" + found.field;
  }
  std::string owner = without_wrappers(found.owner);
  if (parallel_ && owner.starts_with(kParallel)) owner.erase(0, kParallel.size());
  return owner + "@" + found.field;
}

}  // namespace ttcheck::formats
