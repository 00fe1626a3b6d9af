// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs that manifests tell to be equal, unread.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/diff/met.hpp"
#include "core/model/step.hpp"

namespace ttcheck::diff {

/// The source of the limit of such a result.
inline const std::string kManifestSource = "hash in the manifests";

/// True where both sides' manifests have the tensor, as it is, with the same hash. Only names that
/// are the same meet (`rule`): a map may change the order of values. Not where several ranks hold
/// it: their copies are compared.
bool equal_by_manifest(const Tensor& reference, const Tensor& candidate, std::string_view rule,
                       const StepPair& steps, const DiffContext& context);

/// The first of `pairs` of which the manifests do not say the same, behind at least one of which
/// they do. None where a side has no manifest, where they say the same of all, and where they have
/// nothing of one that would have to be known.
std::optional<std::size_t> first_apart_by_manifest(std::span<const StepPair> pairs,
                                                   const DiffContext& context);

/// Tells the limits of the others of such a pair.
void know_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context);

/// Does what know_equal_by_manifest does, and counts the pair as equal.
void add_equal_by_manifest(MetStep& met, std::size_t place, const DiffContext& context,
                           Verdict& verdict);

}  // namespace ttcheck::diff
