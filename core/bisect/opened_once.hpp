#pragma once
// A run of which the steps that were opened last stay open: a search comes back to them.

#include "core/model/run.hpp"

namespace ttcheck::bisect {

/// The same run; `run` must outlive it.
Run opened_once(const Run& run);

}  // namespace ttcheck::bisect
