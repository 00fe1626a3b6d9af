// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/inventory.hpp"
#include "reports/paint.hpp"
#include "reports/terminal_parts.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

struct KindTotal {
  std::int64_t tensors = 0;
  double elements = 0, bytes = 0;  ///< sums of what files claim; a double cannot overflow
};

std::string kind_table(const std::vector<InventoryRow>& rows, const ReportOptions& options) {
  std::map<std::pair<Kind, DType>, KindTotal> totals;
  for (const InventoryRow& row : rows) {
    KindTotal& total = totals[{row.tensor->kind, row.tensor->dtype}];
    const auto elements = static_cast<double>(element_count(row.tensor->shape));
    ++total.tensors;
    total.elements += elements;
    total.bytes += std::ceil(elements * bits(row.tensor->dtype) / 8);
  }
  if (totals.empty()) return "";
  Columns columns("llrrr");
  columns.add({"Kind", "dtype", "tensors", "elements", "size"});
  for (const auto& [key, total] : totals) {
    columns.add({std::string(name(key.first)), std::string(name(key.second)),
                 thousands(total.tensors),
                 total.elements < 1e15 ? thousands(static_cast<std::int64_t>(total.elements))
                                       : short_number(total.elements),
                 short_bytes(static_cast<std::uint64_t>(total.bytes))});
  }
  return table_section(columns, options);
}

std::string tensor_table(const std::vector<InventoryRow>& rows, const ReportOptions& options) {
  if (rows.empty()) return "";
  Columns columns("lllll");
  columns.add({"Tensor", "kind", "dtype", "shape", "steps"});
  for (const InventoryRow& row : rows) {
    columns.add({shown(row.tensor->identity), std::string(name(row.tensor->kind)),
                 std::string(name(row.tensor->dtype)), bracketed(row.tensor->shape),
                 folded(row.steps)});
  }
  return table_section(columns, options);
}

/// Facts that say most of a run first: the model, where it stands, what drives its updates; what an
/// optimizer has beside that last.
int rank_of(const FactResult& fact) {
  constexpr auto kFirst = std::to_array<std::string_view>(
      {"iteration", "global_step", "epoch", "lr", "betas", "eps", "momentum", "weight_decay"});
  const std::string_view name = fact.name;
  const std::string_view last = name.substr(name.rfind('.') + 1);
  if (name.starts_with("model.")) return 0;
  if (std::ranges::find(kFirst, last) != kFirst.end()) return 1;
  return name.starts_with("optimizer.") ? 3 : 2;
}

std::string fact_table(const Verdict& verdict, const ReportOptions& options) {
  if (verdict.facts.empty()) return "";
  constexpr std::size_t kLongestValue = 80;
  std::vector<const FactResult*> facts;
  facts.reserve(verdict.facts.size());
  for (const FactResult& fact : verdict.facts) facts.push_back(&fact);
  if (!options.all) std::ranges::stable_sort(facts, {}, [](auto* fact) { return rank_of(*fact); });
  const std::size_t most =
      options.all || options.top == 0 ? facts.size() : static_cast<std::size_t>(options.top);
  Columns columns("ll");
  columns.add({"Fact", "value"});
  for (std::size_t i = 0; i < std::min(most, facts.size()); ++i) {
    const FactResult& fact = *facts[i];
    columns.add({terminal_text(fact.name),
                 fact.reference ? terminal_text(to_string(*fact.reference), kLongestValue) : "-"});
  }
  std::string text = table_section(columns, options);
  if (facts.size() > most) text += fmt::format("... and {} more (--all)\n", facts.size() - most);
  return text;
}

/// "5,616 (f32)": the elements of the weights, each name once.
std::string parameter_words(const std::vector<InventoryRow>& rows) {
  double elements = 0;  // a sum of what files claim; a double cannot overflow
  std::vector<std::string> dtypes;
  for (const InventoryRow& row : rows) {
    if (row.tensor->kind != Kind::weight) continue;
    elements += static_cast<double>(element_count(row.tensor->shape));
    std::string dtype(name(row.tensor->dtype));
    if (std::ranges::find(dtypes, dtype) == dtypes.end()) dtypes.push_back(std::move(dtype));
  }
  if (dtypes.empty()) return "";
  constexpr double kExact = 1e15;
  const std::string count =
      elements < kExact ? thousands(static_cast<std::int64_t>(elements)) : short_number(elements);
  return fmt::format("{} ({})", count, fmt::join(dtypes, ", "));
}

}  // namespace

std::string info_sections(const Verdict& verdict, const ReportOptions& options) {
  if (!verdict.reference) return "";
  const Paint paint(options.color);
  const RunSummary& run = *verdict.reference;
  std::string text =
      fmt::format("{}  {}\n\n", paint.bold(terminal_text(run.path)), terminal_text(run.format));
  const std::string mesh = mesh_words(run.mesh);
  text +=
      labelled("mesh",
               mesh.empty() ? "one rank, as far as the files say"
                            : fmt::format("{} ({})", mesh, counted(run.mesh.world_size(), "rank")),
               options.width);
  text += labelled("steps",
                   run.steps.empty() ? "no step numbers"
                                     : fmt::format("{}: {}", run.steps.size(), folded(run.steps)),
                   options.width);
  text += labelled("tensors", fmt::format("{}, {}", thousands(run.tensors), short_bytes(run.bytes)),
                   options.width);
  if (verdict.coverage.unreadable > 0) {
    text += labelled("unreadable", counted(verdict.coverage.unreadable, "tensor"), options.width);
  }
  if (verdict.coverage.bytes_unclaimed > 0) {
    text += labelled("unclaimed",
                     short_bytes(verdict.coverage.bytes_unclaimed) + " belong to no tensor",
                     options.width);
  }
  const std::vector<InventoryRow> rows = inventory(verdict.tensors);
  const std::string parameters = parameter_words(rows);
  if (!parameters.empty()) text += labelled("parameters", parameters, options.width);
  text += kind_table(rows, options) + fact_table(verdict, options);
  if (options.all) return text + tensor_table(rows, options);
  return text + "\nEvery tensor with its shape: --all; as JSON: --json\n";
}

}  // namespace ttcheck::reports
