// SPDX-License-Identifier: Apache-2.0
#include "core/diff/open_step.hpp"

#include <utility>

#include "core/diff/named_states.hpp"
#include "core/model/stated_numbers.hpp"

namespace ttcheck::diff {

OpenedStep read_step(const Run& run, std::size_t index) {
  OpenedStep step;
  step.state = run.open(index);
  step.facts = run.facts;
  step.facts.insert(step.facts.end(), step.state.facts.begin(), step.state.facts.end());
  step.findings = std::move(step.state.findings);
  step.named = std::move(step.state.named);
  step.stated = std::move(step.state.stated);
  step.defined_order = step.state.defined_order;
  step.bytes_unclaimed = step.state.bytes_unclaimed;
  step.unreadable = step.state.unreadable;
  return step;
}

void put_together(const Run& run, OpenedStep& step) {
  step.assembly = assemble::assemble(std::move(step.state), run.mesh, numbers_of(step.facts));
  append(step.findings, std::exchange(step.assembly.findings, {}));
  step.unreadable += step.assembly.unreadable;
  for (const Tensor& tensor : step.assembly.tensors) step.bytes += logical_bytes(tensor);
}

OpenedStep open_step(const Run& run, std::size_t index) {
  OpenedStep step = read_step(run, index);
  append(step.findings, named_note(step.named, run.steps[index]));
  put_together(run, step);
  return step;
}

}  // namespace ttcheck::diff
