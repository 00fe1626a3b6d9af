// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Compares correct runs with each other and writes how far they are apart as a limits file (-o).
/// Runs that differ by more than correct ones can are named, and nothing is written then.
Verdict calibrate(const Options& options);

}  // namespace ttcheck::cli
