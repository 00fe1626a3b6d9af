// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the two sides state about themselves, compared.

#include <span>
#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// Facts by name: of equal value, different, or on one side only; notes are listed as notes. Where
/// a side's source does not state what the other's states, the framework's default stands in for it
/// (equal: a note); without a known default that is a warning, as are opaque values that differ.
/// Numbers compare by value, whatever their type (1 and 1.0 are equal). Order: the reference's,
/// then the candidate's own. A fact of one rank, `<name>.rank.<r>`, meets the other side's, or
/// `<name>` where that has none; between different meshes it is a note, as a generator's state is.
std::vector<FactResult> compare_facts(const std::vector<Fact>& reference,
                                      const std::vector<Fact>& candidate, bool same_mesh);

/// What a later step's facts come to joins those of the first: of each name that which came to
/// something first, with its step.
void add_facts(std::span<const FactResult> facts, std::optional<std::int64_t> step,
               std::vector<FactResult>& known);

/// TT309 for each fact that comes to one, opaque ones aside.
std::vector<Finding> fact_findings(std::span<const FactResult> facts,
                                   std::optional<std::int64_t> step);

/// TT309 for each opaque fact that comes to one: an error between copies (`equal`: all tensors are)
/// of one state (no other fact is an error), else a warning.
std::vector<Finding> opaque_findings(std::span<const FactResult> facts,
                                     std::optional<std::int64_t> step, bool equal);

}  // namespace ttcheck::verdict
