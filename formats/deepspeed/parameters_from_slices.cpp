// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/parameters_from_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/deepspeed/slice_mappings.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTied = "tied_modules.";

using Shapes = std::map<std::string, Shape, std::less<>>;

Shapes shapes_in(const DeepspeedPart& part, Value weights) {
  Shapes shapes;
  for (const auto& [key, value] : mapping(weights).value_or(std::vector<KeyValue>())) {
    if (!TorchFile::is_tensor(value)) continue;
    try {
      shapes.emplace(path_part(key), part.torch->tensor(value).shape);
    } catch (const Error&) {  // said where the tensor itself is read
    }
  }
  return shapes;
}

/// Shapes of all weights by name, and of layers that no name begins with, by their own names.
class Weights {
 public:
  Weights(const DeepspeedTag& tag, const std::set<std::string>& named) {
    for (const DeepspeedPart* part : tag.of(DeepspeedKind::model)) {
      shapes_.merge(shapes_in(*part, item_of(part->torch->root(), "module")));
    }
    for (const DeepspeedPart* part : tag.of(DeepspeedKind::layer)) {
      Shapes own = shapes_in(*part, part->torch->root());
      const std::string prefix = fmt::format("{}.", part->file.layer);
      const auto first = named.lower_bound(prefix);
      if (first == named.end() || !first->starts_with(prefix)) {
        nameless_.push_back(std::move(own));
        continue;
      }
      for (auto& [name, shape] : own) shapes_.emplace(prefix + name, std::move(shape));
    }
  }

  /// `{count}` where no weight has that name and so many elements.
  Shape shape_of(const std::string& name, std::int64_t count) const {
    const auto holds = [&](const Shapes& shapes, std::string_view own) -> const Shape* {
      const auto found = shapes.find(own);
      const bool fits = found != shapes.end() && element_count(found->second) == count;
      return fits ? &found->second : nullptr;
    };
    if (const Shape* shape = holds(shapes_, name)) return *shape;
    if (name.starts_with(kTied)) {
      const std::size_t dot = name.find('.', kTied.size());
      const std::string_view own = std::string_view(name).substr(std::min(name.size(), dot + 1));
      for (const Shapes& layer : nameless_) {
        if (const Shape* shape = holds(layer, own)) return *shape;
      }
    }
    return {count};
  }

 private:
  Shapes shapes_;
  std::vector<Shapes> nameless_;
};

/// Names of a group in the order of its row, with their counts.
using Listed = std::vector<std::pair<std::string, std::int64_t>>;

/// The lists of parameters by group. One that the ranks share is listed by each for its part.
std::vector<Listed> list_of(const DeepspeedTag& tag, std::int64_t mp) {
  using Entry = std::tuple<std::int64_t, std::int64_t, std::string, std::int64_t>;
  std::vector<std::vector<Entry>> groups;
  for (const DeepspeedPart* part : tag.of(DeepspeedKind::optimizer)) {
    if (part->file.mp != mp) continue;
    const Value optimizer = item_of(part->torch->root(), "optimizer_state_dict");
    const auto stated =
        sequence(item_of(optimizer, "param_slice_mappings")).value_or(std::vector<Value>());
    if (groups.size() < stated.size()) groups.resize(stated.size());
    for (std::size_t g = 0; g < stated.size(); ++g) {
      const auto slices = part->budget->look_at(stated[g]) ? slices_of(stated[g]) : std::nullopt;
      if (!slices) return {};
      for (const auto& [name, at] : *slices) {
        if (at.second < 0) return {};
        groups[g].emplace_back(part->file.dp.value_or(0), at.first, name, at.second);
      }
    }
  }
  std::vector<Listed> listed;
  for (std::vector<Entry>& group : groups) {
    std::ranges::sort(group);
    Listed& own = listed.emplace_back();
    for (const auto& [dp, start, name, count] : group) {
      if (own.empty() || own.back().first != name) own.emplace_back(name, 0);
      own.back().second = checked_add(own.back().second, count);
    }
  }
  return listed;
}

}  // namespace

void list_parameters(DeepspeedTag& tag) {
  std::map<std::int64_t, std::vector<Listed>> lists;
  std::set<std::string> named;
  for (const auto& [mp, known] : tag.parameters) {
    if (!known.groups.empty()) continue;
    std::vector<Listed> listed = list_of(tag, mp);
    for (const Listed& group : listed) {
      for (const auto& [name, count] : group) named.insert(name);
    }
    if (!listed.empty()) lists.emplace(mp, std::move(listed));
  }
  if (lists.empty()) return;
  const Weights weights(tag, named);
  for (const auto& [mp, listed] : lists) {
    for (const Listed& group : listed) {
      auto& own = tag.parameters.at(mp).groups.emplace_back();
      for (const auto& [name, count] : group) own.push_back({name, weights.shape_of(name, count)});
    }
  }
}

}  // namespace ttcheck::formats
