#pragma once
// Pairs that manifests tell to be equal, unread.

#include "cli/judging.hpp"
#include "cli/step_diff.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::cli {

/// True where both sides' manifests have the tensor, as it is, with the same hash: it is counted as
/// equal, and `work` told. Only names that are the same meet: a map may change the order of values.
bool judge_by_manifest(const Tensor& reference, const Tensor& candidate, const StepPair& steps,
                       const DiffContext& context, Work& work, Verdict& verdict);

}  // namespace ttcheck::cli
