// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/placing.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "formats/megatron/cut_rules.hpp"
#include "formats/megatron/names.hpp"

namespace ttcheck::formats {
namespace {

std::string_view parameter(const Record& record) {
  const std::string_view name = record.identity.name;
  return name.substr(0, name.find('@'));
}

bool has_parts(const Placement& placement) {
  return std::ranges::any_of(placement.dims, [](const DimSpec& dim) { return !dim.parts.empty(); });
}

}  // namespace

MegatronPlacing::MegatronPlacing(const MegatronArgs& args, double version)
    : args_(args), layout_(megatron_layout(args, version)), use_(layout_) {}

bool MegatronPlacing::place(Record& record) {
  if (record.shape.empty()) return false;
  const std::string_view name = parameter(record);
  const bool cut = args_.tp > 1 || (is_expert_name(name) && args_.etp > 1);
  // One rank alone has no need of rules, but for the vocabulary's padding.
  const TensorRule* rule =
      cut ? use_.rule_for(name, record.piece.rank, record.piece.where()) : rule_for(layout_, name);
  if (rule == nullptr || (!cut && has_parts(*rule->dims))) return false;
  record.placement = cut_down_projection(args_, name, record.shape);
  if (!record.placement) record.placement = rule->dims;
  return true;
}

void MegatronPlacing::leave_out_unplaced(State& state) const {
  std::set<std::string> names;
  std::erase_if(state.records, [&](const Record& record) {
    if (record.placement || !use_.unplaced(parameter(record))) return false;
    names.insert(record.identity.name);
    return true;
  });
  state.unreadable += static_cast<std::int64_t>(names.size());
  for (Finding& finding : use_.findings()) {
    if (finding.incomplete) state.findings.push_back(std::move(finding));
  }
}

}  // namespace ttcheck::formats
