// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of what was and was not compared.

#include <cstdint>
#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// Counts tensors that a rule leaves out.
void exclude(Coverage& coverage, const std::string& rule, std::int64_t count);

/// Counts what only one side has beside the weights of both. It is excluded already.
void add_beside(Coverage& coverage, const OneSided& beside);

/// Adds what was counted of other tensors, steps and files: every field.
void add_coverage(const Coverage& part, Coverage& whole);

}  // namespace ttcheck::verdict
