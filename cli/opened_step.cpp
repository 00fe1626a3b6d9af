#include "cli/opened_step.hpp"

#include <utility>

#include "cli/named_states.hpp"
#include "cli/side.hpp"

namespace ttcheck::cli {

OpenedStep open_step(const Run& run, std::size_t index) {
  OpenedStep step;
  step.used = run.open(index);
  step.facts = run.facts;
  step.facts.insert(step.facts.end(), step.used.facts.begin(), step.used.facts.end());
  step.findings = std::move(step.used.findings);
  append(step.findings, named_note(step.used.named, run.steps[index]));
  step.bytes_unclaimed = step.used.bytes_unclaimed;
  const std::int64_t unreadable = step.used.unreadable;
  step.assembly = assemble::assemble(std::move(step.used), run.mesh, numbers_of(step.facts));
  append(step.findings, std::exchange(step.assembly.findings, {}));
  step.unreadable = unreadable + step.assembly.unreadable;
  return step;
}

}  // namespace ttcheck::cli
