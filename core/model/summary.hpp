// SPDX-License-Identifier: Apache-2.0
#pragma once
// One side of an answer, from the run that it is.

#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck {

/// Head of a report: format, mesh, steps. Tensors and bytes are added as steps are read.
RunSummary summary_of(const Run& run);

}  // namespace ttcheck
