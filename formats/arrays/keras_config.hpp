// SPDX-License-Identifier: Apache-2.0
#pragma once
// The definition of a model that Keras writes beside its weights: JSON in the attribute
// `model_config` of an HDF5 file's root group (keras/src/legacy/saving/legacy_h5_format.py).

#include <string>
#include <vector>

#include "core/model/finding.hpp"

namespace ttcheck::formats {

/// TT509 where it carries code: a `Lambda` layer's function, and what Keras 3 writes as
/// `__lambda__`, are marshalled bytecode, which loaders run. TT501, a warning, where it is no JSON.
std::vector<Finding> keras_findings(const std::string& config, const Where& where);

}  // namespace ttcheck::formats
