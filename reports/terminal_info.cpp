// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

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
                 thousands(total.tensors), short_number(total.elements),
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

std::string fact_table(const Verdict& verdict, const ReportOptions& options) {
  if (verdict.facts.empty()) return "";
  constexpr std::size_t kLongestValue = 80;
  const std::size_t most = options.all || options.top == 0 ? verdict.facts.size()
                                                           : static_cast<std::size_t>(options.top);
  Columns columns("ll");
  columns.add({"Fact", "value"});
  for (std::size_t i = 0; i < std::min(most, verdict.facts.size()); ++i) {
    const FactResult& fact = verdict.facts[i];
    columns.add({terminal_text(fact.name),
                 fact.reference ? terminal_text(to_string(*fact.reference), kLongestValue) : "-"});
  }
  std::string text = table_section(columns, options);
  if (verdict.facts.size() > most) {
    text += fmt::format("... and {} more (--all)\n", verdict.facts.size() - most);
  }
  return text;
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
               mesh.empty() ? "one rank, or none that the files prove"
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
  text += kind_table(rows, options) + fact_table(verdict, options);
  if (options.all) return text + tensor_table(rows, options);
  return text + "\nEvery tensor with its shape: --all; as JSON: --json\n";
}

}  // namespace ttcheck::reports
