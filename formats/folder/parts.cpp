// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/parts.hpp"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

template <class T>
void move_to_end(std::vector<T>& whole, std::vector<T>& part) {
  whole.insert(whole.end(), std::make_move_iterator(part.begin()),
               std::make_move_iterator(part.end()));
}

void put_before(std::string& name, const std::string& prefix) {
  name = name.empty() ? prefix : prefix + "." + name;
}

}  // namespace

Run& Parts::add(Run run) { return *runs_.emplace_back(std::make_unique<Run>(std::move(run))); }

std::vector<Finding> Parts::close() const {
  std::vector<Finding> all;
  for (const std::unique_ptr<Run>& run : runs_) {
    std::vector<Finding> some = run->close();
    move_to_end(all, some);
  }
  return all;
}

State only_state(Run& part) {
  if (part.steps.size() != 1) {
    throw Error(fmt::format("holds {} steps, one state was expected", part.steps.size()),
                {part.path, {}, {}});
  }
  State state = part.open(0);
  state.facts.insert(state.facts.begin(), part.facts.begin(), part.facts.end());
  state.findings.insert(state.findings.begin(), part.findings.begin(), part.findings.end());
  state.named = part.named;
  return state;
}

void append(State& whole, State part, const std::string& prefix) {
  if (!prefix.empty()) {
    for (Record& record : part.records) put_before(record.identity.name, prefix);
    for (Fact& fact : part.facts) put_before(fact.name, prefix);
    for (Finding& finding : part.findings) {
      if (!finding.tensor.empty()) put_before(finding.tensor, prefix);
    }
  }
  for (NamedState& one : part.named) {
    if (!prefix.empty()) one.name = prefix + "/" + one.name;
  }
  if (!part.records.empty()) {
    whole.defined_order = part.defined_order && (whole.records.empty() || whole.defined_order);
  }
  move_to_end(whole.named, part.named);
  move_to_end(whole.records, part.records);
  move_to_end(whole.facts, part.facts);
  move_to_end(whole.findings, part.findings);
  move_to_end(whole.missing_ranks, part.missing_ranks);
  move_to_end(whole.silent_ranks, part.silent_ranks);
  whole.unreadable_ranks.merge(part.unreadable_ranks);
  whole.bytes_unclaimed = checked_add(whole.bytes_unclaimed, part.bytes_unclaimed);
  whole.unreadable = checked_add(whole.unreadable, part.unreadable);
}

}  // namespace ttcheck::formats
