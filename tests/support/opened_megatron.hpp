// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of a Megatron checkpoint, opened and put together, with all that was said of it.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "core/model/codes.hpp"
#include "core/model/gather.hpp"
#include "formats/open.hpp"
#include "tests/support/megatron_tree.hpp"

namespace ttcheck::tests {

struct OpenedMegatron {
  explicit OpenedMegatron(const std::string& path) : run(must_open(path)) {
    REQUIRE(run.steps.size() == 1);
    State state = run.open(0);
    findings = run.findings;
    std::ranges::copy(state.findings, std::back_inserter(findings));
    missing = state.missing_ranks;
    unreadable = state.unreadable;
    Numbers numbers;
    for (const Fact& fact : run.facts) {
      const auto* value = std::get_if<std::int64_t>(&fact.value);
      if (value != nullptr && fact.name.starts_with("model."))
        numbers[fact.name.substr(6)] = *value;
    }
    facts = state.facts;
    unreadable_ranks = state.unreadable_ranks.size();
    assembly = assemble::assemble(std::move(state), run.mesh, numbers);
    std::ranges::move(assembly.findings, std::back_inserter(findings));
  }

  static Run must_open(const std::string& path) {
    Result<Run> opened = formats::open(path);
    if (!opened) FAIL(opened.error().what());
    return std::move(*opened);
  }

  MegatronModel model() const {
    MegatronModel all;
    for (const Tensor& tensor : assembly.tensors) {
      MegatronTensor& out = all[tensor.identity.name];
      out.shape.assign(tensor.shape.begin(), tensor.shape.end());
      out.values.resize(static_cast<std::size_t>(element_count(tensor.shape)));
      gather(tensor, 0, std::ssize(out.values), std::as_writable_bytes(std::span(out.values)));
    }
    return all;
  }

  std::int64_t count(Code code, Severity severity = Severity::error) const {
    return std::ranges::count_if(findings, [&](const Finding& finding) {
      return finding.code == code && finding.severity == severity;
    });
  }

  /// All findings, a line each.
  std::string said() const {
    std::string lines;
    for (const Finding& finding : findings) {
      lines += fmt::format("{} {}\n", to_string(finding.code), finding.message);
    }
    return lines;
  }

  const Finding& first(Code code) const {
    const auto found = std::ranges::find(findings, code, &Finding::code);
    REQUIRE(found != findings.end());
    return *found;
  }

  Run run;
  std::vector<Finding> findings;
  std::vector<Fact> facts;
  std::vector<std::int32_t> missing;
  std::int64_t unreadable = 0;
  std::size_t unreadable_ranks = 0;
  assemble::Assembly assembly;
};

}  // namespace ttcheck::tests
