// SPDX-License-Identifier: Apache-2.0
#pragma once
// The order in which transformers defines a model's parameters, which is how optimizers count them.
// Safetensors files list tensors sorted by name, so it is told from the names; the tables follow
// the __init__ of the layers in transformers/models/*/modeling_*.py.

#include <vector>

#include "formats/torch/optimizer.hpp"

namespace ttcheck::formats {

/// Sorts parameters into that order. False, and nothing is moved, when the names belong to no model
/// that is known here.
bool sort_as_defined(std::vector<Candidate>& parameters);

}  // namespace ttcheck::formats
