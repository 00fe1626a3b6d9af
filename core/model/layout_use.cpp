// SPDX-License-Identifier: Apache-2.0
#include "core/model/layout_use.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/model/rename.hpp"

namespace ttcheck {
namespace {

Finding rule_finding(const Layout& layout, std::int64_t line, std::string_view table,
                     const std::string& match) {
  Finding finding;
  finding.code = Code::name_mapping;
  finding.severity = Severity::warning;
  finding.where = Where{layout.file, std::nullopt, fmt::format("line {}", line)};
  finding.message = fmt::format("[[{}]] match = \"{}\" met no name", table, match);
  return finding;
}

}  // namespace

LayoutUse::LayoutUse(const Layout& layout)
    : layout_(layout), tensors_met_(layout.tensors.size()), renames_met_(layout.renames.size()) {}

std::string LayoutUse::global_name(std::string_view name, const Coordinates& at) {
  std::string global(name);
  for (std::size_t i = 0; i < layout_.renames.size(); ++i) {
    if (rename(layout_, layout_.renames[i], at, global)) renames_met_[i] = true;
  }
  return global;
}

const TensorRule* LayoutUse::rule_for(std::string_view global, std::int32_t rank,
                                      const Where& where) {
  const auto [known, unseen] = rules_.try_emplace(std::string(global));
  if (unseen) known->second = ttcheck::rule_for(layout_, global);
  if (const TensorRule* rule = known->second) {
    tensors_met_[static_cast<std::size_t>(rule - layout_.tensors.data())] = true;
    return rule;
  }
  const auto [at, fresh] = unmatched_.try_emplace(std::string(global));
  if (fresh) at->second.where = where;
  auto& ranks = at->second.ranks;
  if (std::find(ranks.begin(), ranks.end(), rank) == ranks.end()) ranks.push_back(rank);
  return nullptr;
}

bool LayoutUse::unplaced(std::string_view global) const {
  const auto found = unmatched_.find(global);
  return found != unmatched_.end() && found->second.ranks.size() > 1;
}

std::vector<Finding> LayoutUse::findings() const {
  std::vector<Finding> findings;
  for (const auto& [name, unmatched] : unmatched_) {
    if (unmatched.ranks.size() < 2) continue;
    Finding& finding = findings.emplace_back();
    finding.code = Code::name_mapping;
    finding.tensor = name;
    finding.ranks = unmatched.ranks;
    std::sort(finding.ranks.begin(), finding.ranks.end());
    finding.where = unmatched.where;
    finding.incomplete = true;
    finding.message = fmt::format(
        "{} ranks hold {} and no [[tensor]] of {} matches it: it may be sharded or "
        "replicated, so it is left out",
        unmatched.ranks.size(), name, layout_.file);
  }
  for (std::size_t i = 0; i < tensors_met_.size(); ++i) {
    const TensorRule& rule = layout_.tensors[i];
    if (tensors_met_[i] || rule.line == 0) continue;
    findings.push_back(rule_finding(layout_, rule.line, "tensor", rule.match));
  }
  for (std::size_t i = 0; i < renames_met_.size(); ++i) {
    const RenameRule& rule = layout_.renames[i];
    if (renames_met_[i] || rule.line == 0) continue;
    findings.push_back(rule_finding(layout_, rule.line, "rename", rule.match));
  }
  return findings;
}

}  // namespace ttcheck
