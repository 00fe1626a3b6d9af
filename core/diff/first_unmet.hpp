// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place where two runs part first whose values do not differ, but what they hold does.

#include <optional>

#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// The tensor of the first error among the findings, by step, phase and the order in which a model
/// uses its tensors; nothing where no error names one.
std::optional<Divergence> first_unmet(const Verdict& verdict);

}  // namespace ttcheck::diff
