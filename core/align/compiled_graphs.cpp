// SPDX-License-Identifier: Apache-2.0
#include "core/align/compiled_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace ttcheck::align {
namespace {

constexpr std::string_view kRoot = "root";

bool is_of_call(Kind kind) {
  return kind == Kind::input || kind == Kind::output || kind == Kind::grad_input ||
         kind == Kind::grad_output;
}

bool is_inside(std::string_view module, std::string_view graph) {
  if (graph == kRoot) return module != kRoot;
  return module.size() > graph.size() && module.starts_with(graph) && module[graph.size()] == '.';
}

}  // namespace

std::vector<std::string> graphs_of(std::span<const Fact> facts) {
  constexpr std::string_view kGraphs = "graphs.";
  std::vector<std::string> graphs;
  for (const Fact& fact : facts) {
    const auto* path = std::get_if<std::string>(&fact.value);
    if (path != nullptr && fact.name.starts_with(kGraphs)) graphs.push_back(*path);
  }
  return graphs;
}

void exclude_in_graphs(Bench& bench, const std::vector<std::string>& graphs,
                       std::string_view side) {
  if (graphs.empty()) return;
  exclude(bench, fmt::format("inside what the {} compiled to one graph", side),
          [&](const Tensor& tensor) {
            const std::string_view module = module_of(tensor.identity);
            return tensor.trace && is_of_call(tensor.kind) &&
                   std::ranges::any_of(
                       graphs, [&](const std::string& graph) { return is_inside(module, graph); });
          });
}

}  // namespace ttcheck::align
