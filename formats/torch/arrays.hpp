// SPDX-License-Identifier: Apache-2.0
#pragma once
// NumPy arrays in a pickle that holds no tensors: then they are what it is about.

#include <vector>

#include "core/model/run.hpp"
#include "formats/torch/walk.hpp"

namespace ttcheck::formats {

/// Takes the arrays of plain numbers that are stored as bytes out of `leaves`; each is a record
/// that reads from the pickle's own bytes or, where these are not there, a finding.
void arrays_to_records(std::vector<Leaf>& leaves, State& state);

}  // namespace ttcheck::formats
