// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/state.hpp"

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/deepspeed/budget.hpp"
#include "formats/deepspeed/facts.hpp"
#include "formats/deepspeed/model_states.hpp"
#include "formats/deepspeed/optimizer_by_number.hpp"
#include "formats/deepspeed/step_counters.hpp"
#include "formats/deepspeed/zero_partitions.hpp"

namespace ttcheck::formats {

State deepspeed_state(const DeepspeedTag& tag) {
  State state;
  state.findings = tag.findings;
  state.unreadable = tag.unreadable;
  state.bytes_unclaimed = tag.unclaimed;
  state.missing_ranks = tag.missing_ranks;
  state.unreadable_ranks = tag.unreadable_ranks;
  for (const DeepspeedPart& part : tag.parts) {
    if (part.torch == nullptr) continue;
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, part.torch->unclaimed());
    for (const Finding& finding : part.torch->findings()) state.findings.push_back(finding);
  }
  DeepspeedBudget budget(tag);
  DeepspeedSteps steps(tag);
  read_facts(tag, state);
  const std::vector<DeepspeedWeight> weights = read_model(tag, state);
  read_zero(tag, budget, steps, state);
  read_numbered(tag, weights, budget, steps, state);
  steps.check(state);
  return state;
}

}  // namespace ttcheck::formats
