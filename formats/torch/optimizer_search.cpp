// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/optimizer_search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

/// What a list or a dict holds: numbers or keys, and whether they are keys.
struct Items {
  std::vector<std::pair<std::string, Value>> values;
  bool keyed = false;
};

Items items_of(Value value) {
  Items items;
  if (const auto pairs = mapping(value)) {
    items.keyed = true;
    for (const auto& [key, item] : *pairs) items.values.emplace_back(path_part(key), item);
  } else if (const auto list = sequence(value)) {
    for (const Value& item : *list) {
      items.values.emplace_back(std::to_string(items.values.size()), item);
    }
  }
  return items;
}

}  // namespace

bool OptimizerSearch::is_one(Value value) {
  const auto [found, fresh] = single_.try_emplace(value.id(), false);
  if (fresh) found->second = budget_.look_at(value) && is_optimizer(value);
  return found->second;
}

bool OptimizerSearch::are_all_of(Value value) {
  if (is_one(value)) return true;
  const auto [found, fresh] = several_.try_emplace(value.id(), false);
  if (fresh && budget_.look_at(value)) {
    const Items items = items_of(value);
    found->second =
        !items.values.empty() &&
        std::ranges::all_of(items.values, [&](const auto& item) { return is_one(item.second); });
  }
  return found->second;
}

std::vector<Optimizer> OptimizerSearch::among(const std::vector<KeyValue>& pairs) {
  std::vector<Optimizer> found;
  for (const auto& [key, value] : pairs) {
    const std::string name = path_part(key);
    if (is_one(value)) {
      found.push_back({value, name, ""});
    } else if (are_all_of(value)) {
      const Items items = items_of(value);
      for (const auto& [part, item] : items.values) {
        found.push_back({item, fmt::format("{}.{}", name, part), items.keyed ? part : ""});
      }
    }
  }
  return found;
}

}  // namespace ttcheck::formats
