// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run of which the steps that were opened last stay open: a search comes back to them. Three at
// least, more while they have few records together.

#include "core/model/run.hpp"

namespace ttcheck::bisect {

/// Gives the same run, whose steps that were opened last stay open; `run` must outlive it.
Run opened_once(const Run& run);

}  // namespace ttcheck::bisect
