// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/hf_debug/tree.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr std::string_view kOutputs = "outputs";
constexpr std::string_view kFirst = ".0";
constexpr std::size_t kLongestSlot = 256;
constexpr std::ptrdiff_t kArgument = 2;  // dots in `inputs.kwargs.mask`

bool is_tensor(const Json& node) {
  const auto shape = node.find("shape");
  const auto dtype = node.find("dtype");
  return shape && dtype && shape->is(Json::Kind::string) && dtype->is(Json::Kind::string);
}

/// `outputs.0.0` is the first output.
std::string slot_of(std::string_view path) {
  std::string_view rest = path;
  while (rest.ends_with(kFirst)) rest.remove_suffix(kFirst.size());
  return std::string(rest == kOutputs ? rest : path);
}

class TreeWalk {
 public:
  explicit TreeWalk(const Json& tree) : root_(tree.find("module_path")) {
    if (!root_) tree.fail("a call tree was expected, found no module_path");
    todo_.push_back({tree, "", "", 0});
  }

  std::vector<DebugValue> run() {
    while (!todo_.empty()) {
      const Todo next = std::move(todo_.back());
      todo_.pop_back();
      if (next.slot.empty()) {
        add_module(next.node);
      } else {
        add_value(next);
      }
    }
    return std::move(values_);
  }

 private:
  struct Todo {
    Json node;
    std::string_view module;
    std::string slot;  ///< empty: a module
    std::int32_t call = 0;
  };

  void add_module(const Json& node) {
    const auto path = node.find("module_path");
    if (!path) node.fail("a module of a call tree was expected, found no module_path");
    const std::string_view module = without_class(path->string());
    const std::int32_t call = calls_[module]++;
    std::vector<Todo> parts;
    if (const auto inputs = node.find("inputs")) parts.push_back({*inputs, module, "inputs", call});
    if (const auto children = node.find("children")) {
      for (const Json child : children->items()) parts.push_back({child, "", "", 0});
    }
    if (const auto outputs = node.find(kOutputs)) {
      parts.push_back({*outputs, module, std::string(kOutputs), call});
    }
    put_off(std::move(parts));
  }

  std::string_view without_class(std::string_view path) const {
    const std::string_view model = root_->string();
    if (path == model) return "top-level";
    if (path.size() > model.size() && path.starts_with(model) && path[model.size()] == '.') {
      path.remove_prefix(model.size() + 1);
    }
    return path;
  }

  void add_value(const Todo& value) {
    const Json& node = value.node;
    if (value.slot.size() > kLongestSlot) node.fail("a value nested under too long a name");
    std::vector<Todo> parts;
    if (is_tensor(node)) {
      values_.push_back({value.module, slot_of(value.slot), value.call, true, node});
    } else if (node.is(Json::Kind::string)) {
      if (std::ranges::count(value.slot, '.') <= kArgument) {
        values_.push_back({value.module, slot_of(value.slot), value.call, false, node});
      }
    } else if (node.is(Json::Kind::object)) {
      for (const auto& [key, part] : node.members()) {
        parts.push_back({part, value.module, value.slot + "." + std::string(key), value.call});
      }
    } else if (node.is(Json::Kind::array)) {
      std::size_t index = 0;
      for (const Json part : node.items()) {
        parts.push_back(
            {part, value.module, value.slot + "." + std::to_string(index++), value.call});
      }
    }
    put_off(std::move(parts));
  }

  /// The first of them comes next.
  void put_off(std::vector<Todo>&& parts) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      todo_.push_back(std::move(*part));
    }
  }

  std::optional<Json> root_;
  std::vector<Todo> todo_;
  std::map<std::string_view, std::int32_t> calls_;
  std::vector<DebugValue> values_;
};

}  // namespace

std::vector<DebugValue> debug_values(const Json& tree) { return TreeWalk(tree).run(); }

}  // namespace ttcheck::formats
