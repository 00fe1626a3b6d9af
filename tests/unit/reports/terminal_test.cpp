// SPDX-License-Identifier: Apache-2.0
#include "reports/terminal.hpp"

#include <doctest/doctest.h>

namespace ttcheck::reports {
namespace {

Verdict diverged() {
  Verdict verdict;
  verdict.command = "diff";
  verdict.outcome = Outcome::diverged;
  verdict.reference = RunSummary{"a", "hf", {}, {}, 1, 4};
  verdict.candidate = RunSummary{"b", "hf", {}, {}, 1, 4};
  TensorResult tensor;
  tensor.step = 12;
  tensor.identity.name = "layers.3.norm.weight";
  tensor.by_limit = Outcome::diverged;
  tensor.ratio = 242.4;
  verdict.tensors.push_back(tensor);
  verdict.first = Divergence{};
  verdict.first->tensor = tensor.identity.name;
  verdict.first->step = 12;
  verdict.first->ranks = {0, 1, 2, 3};
  return verdict;
}

std::string last(const std::string& text) {
  const std::size_t end = text.rfind('\n');
  return text.substr(text.rfind('\n', end - 1) + 1, end - text.rfind('\n', end - 1) - 1);
}

TEST_CASE("the last line is for grep") {
  Verdict verdict = diverged();
  CHECK(last(write_terminal(verdict, {})) ==
        "ttcheck: DIVERGED first=layers.3.norm.weight step=12 ratio=242 ranks=0-3");
  CHECK(write_terminal(verdict, {.verbose = -1}) == last(write_terminal(verdict, {})) + "\n");
  verdict.outcome = Outcome::not_comparable;
  verdict.first.reset();
  verdict.reason = "other batch";
  CHECK(
      last(write_terminal(verdict, {})).starts_with("ttcheck: NOT-COMPARABLE reason=other_batch "));
}

TEST_CASE("of a message of several lines the last line has the first") {
  Verdict verdict = diverged();
  verdict.outcome = Outcome::not_comparable;
  verdict.first.reset();
  verdict.reason = "line 5: no digit\n  d = 1e-3x\n          ^";
  CHECK(last(write_terminal(verdict, {})) ==
        "ttcheck: NOT-COMPARABLE reason=line_5 tensors=0 bytes=0 complete=yes");
}

TEST_CASE("NM02 a name cannot forge a line of the report") {
  Verdict verdict = diverged();
  verdict.tensors[0].identity.name = verdict.first->tensor = "w\nttcheck: EQUAL";
  const std::string text = write_terminal(verdict, {.all = true});
  CHECK(text.find("\nttcheck: EQUAL") == text.npos);
  CHECK(text.find('\x1b') == text.npos);
}

TEST_CASE("colour is there only when asked for, and never alone") {
  const std::string plain = write_terminal(diverged(), {});
  std::string painted = write_terminal(diverged(), {.color = true});
  CHECK(painted.find("\x1b[1;31mDIVERGED\x1b[0m") == 0);
  for (std::size_t at = painted.find('\x1b'); at != painted.npos; at = painted.find('\x1b')) {
    painted.erase(at, painted.find('m', at) + 1 - at);
  }
  CHECK(painted == plain);
}

}  // namespace
}  // namespace ttcheck::reports
