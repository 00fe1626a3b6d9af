// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/calls.hpp"

#include <algorithm>

namespace ttcheck::assemble {
namespace {

bool is_of_a_pass(const Record& record) {
  const Phase phase = record.identity.phase;
  return phase == Phase::forward || phase == Phase::backward;
}

}  // namespace

Calls::Calls(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (!is_of_a_pass(record)) continue;
    of_module_[std::string(module_of(record.identity))].insert(call_of(record));
  }
}

bool Calls::are_all(const std::vector<const Record*>& records) const {
  if (records.empty() || !is_of_a_pass(*records.front())) return false;
  const auto found = of_module_.find(std::string(module_of(records.front()->identity)));
  if (found == of_module_.end()) return false;
  std::set<Call> here;
  for (const Record* record : records) here.insert(call_of(*record));
  return std::ranges::includes(here, found->second);
}

Calls::Call Calls::call_of(const Record& record) {
  return {record.piece.rank, coordinate(record.at, "mb")};
}

}  // namespace ttcheck::assemble
