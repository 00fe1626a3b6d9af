// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/layout_base.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/megatron/cut_rules.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

bool has_axis(const Mesh& mesh, std::string_view name) {
  const auto is = [&](const Axis& axis) { return axis.name == name; };
  return std::ranges::any_of(mesh.axes, is) || std::ranges::any_of(mesh.expert_axes, is);
}

struct BaseRow {
  std::string_view match;
  std::string_view dims;
};

/// The rows of Megatron-DeepSpeed, where Megatron's say otherwise or nothing; modules of a pipeline
/// are named by number, so a norm that is one has no other name.
constexpr std::array kDeepspeedRows = {
    BaseRow{"**@step", "*"},
    BaseRow{"**.lm_head.weight", "v[tp{pad}] h"},
    BaseRow{"{l}.{weight,bias}", "*"},
    BaseRow{"**.deepspeed_experts.*.dense_h_to_4h.weight", "{up}[etp] y"},
    BaseRow{"**.deepspeed_experts.*.dense_h_to_4h.bias", "{up}[etp]"},
    BaseRow{"**.deepspeed_experts.*.dense_4h_to_h.weight", "x y[etp]"},
    BaseRow{"**.deepspeed_moe.gate.**", "*"},
};

std::string with(std::string text, std::string_view mark, std::string_view value) {
  const std::size_t at = text.find(mark);
  if (at != std::string::npos) text.replace(at, mark.size(), value);
  return text;
}

void add_deepspeed_rows(Layout& layout, const MegatronArgs& args) {
  for (const BaseRow& row : kDeepspeedRows) {
    std::string dims(row.dims);
    dims = with(std::move(dims), "{pad}", args.vocab > 0 ? ":pad=vocab" : "");
    dims = with(std::move(dims), "{up}", args.swiglu ? "(gate|up)" : "x");
    TensorRule& rule = layout.tensors.emplace_back();
    rule.match = row.match;
    rule.glob = std::make_shared<const Glob>(row.match);
    rule.dims = std::make_shared<const Placement>(parse_dims(dims));
  }
}

void add_rename(Layout& layout, std::string_view match, std::string_view to) {
  RenameRule& rule = layout.renames.emplace_back();
  rule.match = match;
  rule.to = to;
  rule.glob = std::make_shared<const Glob>(match);
}

}  // namespace

std::optional<MegatronStated> megatron_stated(const Source& file) {
  std::unique_ptr<TorchFile> torch;
  try {
    torch = std::make_unique<TorchFile>(read_torch(file, 0));  // summed with the others
  } catch (const Error&) {
    return std::nullopt;  // said where the rank's file is read
  }
  MegatronStated stated;
  for (const auto& [key, value] : mapping(torch->root()).value_or(std::vector<KeyValue>())) {
    if (key.text() == "args" && !value.is_none()) stated.args = read_megatron_args(value);
    if (key.text() == "checkpoint_version") {
      stated.version = value.number().value_or(stated.version);
    }
  }
  return stated;
}

void add_megatron_base(Layout& layout, MegatronStated stated) {
  MegatronArgs& args = stated.args;
  const Mesh& mesh = layout.mesh;
  args.tp = mesh.size_of("tp");
  args.etp = has_axis(mesh, "etp") ? mesh.size_of("etp") : args.tp;
  const std::pair<std::string_view, std::int64_t*> numbers[] = {
      {"vocab", &args.vocab}, {"layers", &args.layers}, {"experts", &args.experts}};
  for (const auto& [name, number] : numbers) {
    if (const auto known = layout.model.find(name); known != layout.model.end()) {
      *number = known->second;
    } else if (*number > 0) {
      layout.model.emplace(name, *number);
    }
  }
  if (layout.base == "deepspeed") add_deepspeed_rows(layout, args);
  Layout rules = megatron_layout(args, stated.version);
  std::ranges::move(rules.tensors, std::back_inserter(layout.tensors));
  if (!layout.renames.empty()) return;
  if (mesh.size_of("pp") > 1 || mesh.size_of("vpp") > 1) {
    add_rename(layout, "decoder.layers.{l}.**", "decoder.layers.{l + first_layer(pp,vpp)}.**");
    add_rename(layout, "**.encoder.layers.{l}.**",
               "**.encoder.layers.{l + first_layer(pp,vpp)}.**");
  }
  if (mesh.size_of("ep") > 1) {
    add_rename(layout, "**.local_experts.{e}.**", "**.local_experts.{e + ep*experts_per_rank}.**");
  }
}

}  // namespace ttcheck::formats
