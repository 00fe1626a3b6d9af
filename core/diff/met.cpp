// SPDX-License-Identifier: Apache-2.0
#include "core/diff/met.hpp"

#include "core/diff/compared_once.hpp"
#include "core/diff/steps.hpp"

namespace ttcheck::diff {

noise::StepRecords records_of(const MetStep& met, const DiffContext& context) {
  noise::StepRecords records;
  records.pairs = met.pairs;
  if (context.once != nullptr) records.known = context.once->known(met.steps, met.pairs.size());
  records.reference_facts = met.sides->front().facts;
  records.candidate_facts = met.sides->back().facts;
  records.step = met.step;
  records.updates = updates_made(context.reference, met.steps);
  records.trace = met.trace;
  records.first_step = context.memory.first_step && !context.memory.noise.whole;
  records.alone = context.memory.alone && !context.memory.noise.whole;
  return records;
}

}  // namespace ttcheck::diff
