#include "cli/opened_step.hpp"

#include <utility>

#include "cli/side.hpp"

namespace ttcheck::cli {

OpenedStep open_step(const Run& run, std::size_t index) {
  OpenedStep step;
  State& state = step.state = run.open(index);
  step.facts = run.facts;
  step.facts.insert(step.facts.end(), state.facts.begin(), state.facts.end());
  step.assembly = assemble::assemble(std::move(state), run.mesh, numbers_of(step.facts));
  append(state.findings, std::exchange(step.assembly.findings, {}));
  state.unreadable += step.assembly.unreadable;
  return step;
}

}  // namespace ttcheck::cli
