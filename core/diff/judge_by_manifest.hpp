// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs that manifests tell to be equal, unread.

#include <string>
#include <string_view>

#include "core/diff/met.hpp"

namespace ttcheck::diff {

/// The source of the limit of such a result.
inline const std::string kManifestSource = "hash in the manifests";

/// True where both sides' manifests have the tensor, as it is, with the same hash. Only names that
/// are the same meet (`rule`): a map may change the order of values. Not where several ranks hold
/// it: their copies are compared.
bool equal_by_manifest(const Tensor& reference, const Tensor& candidate, std::string_view rule,
                       const StepPair& steps, const DiffContext& context);

/// Tells the limits of the others of such a pair.
void know_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context);

/// Does what know_equal_by_manifest does, and counts the pair as equal.
void add_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context,
                           Verdict& verdict);

}  // namespace ttcheck::diff
