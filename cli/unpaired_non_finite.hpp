#pragma once
// NaN and Inf of the candidate that the comparison of pairs does not show: of tensors that it alone
// has, that manifests or hashes told to be equal, or of which statistics alone were stored.

#include <optional>

#include "cli/meet_step.hpp"
#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// True where there are any; a note tells the first tensor and how many there are. Reads, once
/// more, every stored tensor of the candidate that is in none of the pairs of `met` and that no
/// filter leaves out; one that cannot be read becomes a finding that leaves the step incomplete.
bool unpaired_non_finite(const MetStep& met, std::optional<std::int64_t> step,
                         const Options& options, Verdict& verdict);

}  // namespace ttcheck::cli
