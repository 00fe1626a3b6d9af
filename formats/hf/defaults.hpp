// SPDX-License-Identifier: Apache-2.0
#pragma once
// What transformers takes where a config.json does not say: the defaults of its configuration
// classes, written by script/hf-defaults.

#include <optional>
#include <string_view>

#include "core/model/fact.hpp"

namespace ttcheck::formats {

/// The release whose classes were asked (src/transformers/models/*/configuration_*.py).
inline constexpr std::string_view kTransformers = "5.24.0";

/// Default of the fact `model.<..>` for configs of `model_type`. None where the type is not known,
/// or where it follows from other keys or from the weights.
std::optional<FactValue> hf_default(std::string_view model_type, std::string_view fact);

}  // namespace ttcheck::formats
