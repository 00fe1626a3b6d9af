#pragma once
// Pairs that manifests tell to be equal, unread.

#include <string>
#include <string_view>

#include "cli/judging.hpp"
#include "cli/step_diff.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::cli {

/// The source of such a result.
inline const std::string kByManifest = "hash in the manifests";

/// True where both sides' manifests have the tensor, as it is, with the same hash: it is counted as
/// equal, and `work` told. Only names that are the same meet (`rule`): a map may change the order
/// of values. Not where several ranks hold it: their copies are compared.
bool judge_by_manifest(const Tensor& reference, const Tensor& candidate, std::string_view rule,
                       const StepPair& steps, const DiffContext& context, Work& work,
                       Verdict& verdict);

}  // namespace ttcheck::cli
