// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/base/checked.hpp"
#include "core/base/digits.hpp"
#include "core/model/layout.hpp"
#include "core/model/rename.hpp"
#include "core/model/toml_reader.hpp"

namespace ttcheck {
namespace {

constexpr auto kSchemes = std::to_array<std::string_view>(
    {"none", "hf", "megatron-core", "megatron-legacy", "deepspeed", "fsdp2"});

/// One layout text on its way to a Layout.
class Reader : TomlReader {
 public:
  Reader(std::string_view text, const std::string& file) : TomlReader(text, file) {
    layout_.file = file;
  }

  Layout read() {
    const toml::table root = document();
    keys(root, {"layout", "base", "mesh", "files", "model", "tensor", "rename", "map"}, "a layout");
    version(root);
    base(root);
    if (const toml::table* mesh = table(root, "mesh")) read_mesh(*mesh);
    if (const toml::table* files = table(root, "files")) read_files(*files);
    if (const toml::table* model = table(root, "model")) read_model(*model);
    for (const toml::table* one : tables(root, "tensor")) read_tensor(*one);
    for (const toml::table* one : tables(root, "rename")) read_rename(*one);
    for (const toml::table* one : tables(root, "map")) read_map(*one);
    return std::move(layout_);
  }

 private:
  void version(const toml::table& root) const {
    const toml::node* node = root.get("layout");
    if (node == nullptr) {
      const bool map_only = root.size() == 1 && root.contains("map");
      if (root.empty() || map_only) return;
      fail(root, "layout = 1 is missing");
    }
    if (node->value_exact<std::int64_t>() != 1)
      fail(*node, "unknown version of the layout; expected 1");
  }

  void base(const toml::table& root) {
    if (!root.contains("base")) return;
    const toml::node& node = string_node(root, "base");
    layout_.base = node.as_string()->get();
    if (std::find(kSchemes.begin(), kSchemes.end(), layout_.base) == kSchemes.end()) {
      fail(node,
           fmt::format("unknown scheme {}; expected {}", layout_.base, fmt::join(kSchemes, " ")));
    }
  }

  /// `"tp=4"`.
  Axis axis(const toml::node& node) const {
    if (!node.is_string()) fail(node, "an axis is written \"tp=4\"");
    const std::string& text = node.as_string()->get();
    const std::size_t equals = text.find('=');
    Axis axis;
    axis.name = text.substr(0, equals);
    bool good = equals != std::string::npos && is_word(axis.name);
    if (good) {
      const char* begin = text.data() + equals + 1;
      const char* end = text.data() + text.size();
      const auto [stop, code] = std::from_chars(begin, end, axis.size);
      good = code == std::errc() && stop == end && axis.size > 0;
    }
    if (!good) fail(node, "an axis is written \"tp=4\", with a size of at least 1");
    if (axis.name == "rank" || axis.name == "step") {
      fail(node, fmt::format("{} is no name for an axis: patterns use it", axis.name));
    }
    return axis;
  }

  static bool is_word(std::string_view text) {
    return !text.empty() && !is_digit(text.front()) &&
           std::all_of(text.begin(), text.end(), [](char c) {
             return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
           });
  }

  std::vector<Axis> axes(const toml::table& mesh, std::string_view key) const {
    std::vector<Axis> list;
    const toml::node* node = mesh.get(key);
    if (node == nullptr) return list;
    if (!node->is_array()) fail(*node, fmt::format("{} must be a list: [\"pp=2\", \"tp=4\"]", key));
    for (const toml::node& one : *node->as_array()) {
      list.push_back(axis(one));
      for (std::size_t i = 0; i + 1 < list.size(); ++i) {
        if (list[i].name == list.back().name) {
          fail(one, fmt::format("the axis {} is there twice", list[i].name));
        }
      }
    }
    return list;
  }

  std::int64_t ranks(const std::vector<Axis>& list, const toml::node& node) const {
    try {
      std::int64_t product = 1;
      for (const Axis& one : list) product = checked_mul(product, one.size);
      return checked_cast<std::int32_t>(product);
    } catch (const Error&) {
      fail(node, "the mesh has more than 2147483647 ranks");
    }
  }

  void read_mesh(const toml::table& mesh) {
    keys(mesh, {"axes", "expert"}, "[mesh]");
    layout_.mesh.axes = axes(mesh, "axes");
    layout_.mesh.expert_axes = axes(mesh, "expert");
    const std::int64_t world = ranks(layout_.mesh.axes, mesh);
    if (layout_.mesh.expert_axes.empty()) return;
    const std::int64_t expert = ranks(layout_.mesh.expert_axes, mesh);
    if (expert != world) {
      fail(*mesh.get("expert"), fmt::format("expert has {} ranks and axes has {}: both are orders "
                                            "of the same ranks",
                                            expert, world));
    }
    for (const Axis& axis : layout_.mesh.expert_axes) {
      for (const Axis& other : layout_.mesh.axes) {
        if (axis.name == other.name && axis.size != other.size) {
          fail(*mesh.get("expert"),
               fmt::format("{} is {} here and {} in axes", axis.name, axis.size, other.size));
        }
      }
    }
  }

  void read_files(const toml::table& files) {
    keys(files, {"pattern", "root"}, "[files]");
    if (files.contains("pattern")) {
      layout_.pattern = string(files, "pattern");
      glob(string_node(files, "pattern"), '/');
    }
    if (files.contains("root")) layout_.root = string(files, "root");
  }

  void read_model(const toml::table& model) {
    for (const auto& [key, value] : model) {
      if (!value.is_integer()) fail(value, "[model] holds whole numbers");
      layout_.model.emplace(std::string(key.str()), value.as_integer()->get());
    }
  }

  void read_tensor(const toml::table& one) {
    keys(one, {"match", "dims", "shape"}, "[[tensor]]");
    TensorRule& rule = layout_.tensors.emplace_back();
    rule.line = line_of(one);
    rule.match = string(one, "match");
    rule.glob = glob(string_node(one, "match"));
    const toml::node& dims = string_node(one, "dims");
    try {
      rule.dims = std::make_shared<const Placement>(parse_dims(dims.as_string()->get()));
    } catch (const LineError& error) {
      fail_inside(dims, error);
    }
    const toml::node* shape = one.get("shape");
    if (shape == nullptr) return;
    if (!shape->is_array()) fail(*shape, "shape must be a list of whole numbers");
    rule.shape.emplace();
    for (const toml::node& extent : *shape->as_array()) {
      const auto value = extent.as_integer();
      if (value == nullptr || value->get() < 0) fail(extent, "expected a whole number");
      rule.shape->push_back(value->get());
    }
    constexpr std::size_t kMaxDims = 64;
    if (rule.shape->size() > kMaxDims)
      fail(*shape, fmt::format("more than {} dimensions", kMaxDims));
  }

  void read_rename(const toml::table& one) {
    keys(one, {"match", "to"}, "[[rename]]");
    RenameRule& rule = layout_.renames.emplace_back();
    rule.line = line_of(one);
    rule.match = string(one, "match");
    rule.to = string(one, "to");
    rule.glob = glob(string_node(one, "match"));
    try {
      check_rename(rule);
    } catch (const LineError& error) {
      fail_inside(string_node(one, "to"), error);
    } catch (const Error& error) {
      fail(string_node(one, "to"), error.message());
    }
  }

  void read_map(const toml::table& one) {
    keys(one, {"reference", "candidate", "op"}, "[[map]]");
    MapRule& rule = layout_.maps.emplace_back();
    rule.line = line_of(one);
    rule.reference = string(one, "reference");
    rule.candidate = string(one, "candidate");
    rule.op = one.contains("op") ? string(one, "op") : "same";
    const toml::source_position& at = string_node(one, "reference").source().begin;
    rule.file = layout_.file;
    rule.text = line_at(at);
    rule.column = at.column > 0 ? at.column - 1 : 0;
  }

  Layout layout_;
};

}  // namespace

Layout parse_layout(std::string_view text, const std::string& file) {
  return Reader(text, file).read();
}

}  // namespace ttcheck
