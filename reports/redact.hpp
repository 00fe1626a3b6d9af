// SPDX-License-Identifier: Apache-2.0
#pragma once
// An answer that may leave the house.

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/verdict.hpp"

namespace ttcheck::reports {

/// A word that must not be told, and what stands for it.
using Secret = std::pair<std::string, std::string_view>;

/// The answer without paths (`REFERENCE`, `CANDIDATE`, `BASE`; of files inside them the last part;
/// `PATH` for other absolute ones and for what was typed), without `secrets` wherever they stand as
/// words, without values of tensors and settings, and without commands to go on with. Names of
/// tensors, shapes, errors and verdicts stay. What lies inside a tensor is left out.
Verdict redacted(Verdict verdict, std::span<const Secret> secrets);

}  // namespace ttcheck::reports
