#pragma once
// What the two sides state about themselves, compared.

#include <vector>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// Facts by name: of equal value, different, or on one side only; notes are listed as notes.
/// Numbers compare by value, whatever their type (1 and 1.0 are equal). Order: the reference's,
/// then the candidate's own. A fact of one rank, `<name>.rank.<r>`, meets the other side's, or
/// `<name>` where that has none; between different meshes it is a note.
std::vector<FactResult> compare_facts(const std::vector<Fact>& reference,
                                      const std::vector<Fact>& candidate, bool same_mesh);

/// TT309 for each fact that differs.
std::vector<Finding> fact_findings(const std::vector<FactResult>& facts,
                                   std::optional<std::int64_t> step);

}  // namespace ttcheck::verdict
