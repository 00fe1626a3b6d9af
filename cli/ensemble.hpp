#pragma once

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// `diff --ensemble A... -- B...`: do two groups of runs differ by more than the runs of a group
/// among themselves? The noise is measured, so no limit is needed.
Verdict diff_ensembles(const Options& options);

}  // namespace ttcheck::cli
