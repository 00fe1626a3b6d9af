// SPDX-License-Identifier: Apache-2.0
#include "formats/rank_files/layout_base.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace ttcheck::formats {
namespace {

struct Row {
  std::string_view match;
  std::string_view dims;
};

// The first row that matches counts. State of the optimizer is cut like its parameter.
constexpr std::array kHfRows = {
    Row{"**.{q_proj,k_proj,v_proj,gate_proj,up_proj}.{weight,weight@*}", "x[tp] y"},
    Row{"**.{q_proj,k_proj,v_proj,gate_proj,up_proj}.{bias,bias@*}", "x[tp]"},
    Row{"**.{o_proj,down_proj}.{weight,weight@*}", "x y[tp]"},
    Row{"**lm_head.{weight,weight@*}", "x[tp] y"},
    Row{"**", "*"},
};

void add(Layout& layout, std::string_view match, const std::string& dims) {
  TensorRule& rule = layout.tensors.emplace_back();
  rule.match = match;
  rule.glob = std::make_shared<const Glob>(match);
  rule.dims = std::make_shared<const Placement>(parse_dims(dims));
}

std::string_view sharded_axis(const Mesh& mesh) {
  for (const std::string_view name : {"fsdp", "dp_shard"}) {
    const bool there =
        std::ranges::any_of(mesh.axes, [&](const Axis& axis) { return axis.name == name; });
    if (there) return name;
  }
  return "dp";
}

}  // namespace

void add_layout_base(Layout& layout) {
  if (layout.base != "hf" && layout.base != "fsdp2") return;
  add(layout, "**@step", "*");
  if (layout.base == "hf") {
    for (const Row& row : kHfRows) add(layout, row.match, std::string(row.dims));
  } else {
    add(layout, "**", fmt::format("x[{}] *", sharded_axis(layout.mesh)));
  }
}

}  // namespace ttcheck::formats
