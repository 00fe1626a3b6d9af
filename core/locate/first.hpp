// SPDX-License-Identifier: Apache-2.0
#pragma once
// The place where the runs part first.

#include <optional>
#include <span>

#include "core/model/mesh.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::locate {

/// The first diverged result; `results` are in the order in which a difference comes about.
std::optional<std::size_t> first_diverged(std::span<const TensorResult> results);

/// What is right in results before a difference, in that order; nothing where nothing is.
std::optional<Before> right_in(std::span<const TensorResult> results);

/// The result as the head of the report; `introduced` as locate::Origin has it.
Divergence divergence_of(const TensorResult& result, std::optional<bool> introduced,
                         const Mesh& candidate_mesh);

}  // namespace ttcheck::locate
