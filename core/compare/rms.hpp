// SPDX-License-Identifier: Apache-2.0
#pragma once
// The size of a tensor's values.

#include "core/compare/stop.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::compare {

/// Root mean square of a real tensor; 0 of an empty one. Reads it once. Throws Error, Stopped.
double rms_of(const Tensor& tensor, const Stop& stop = {});

}  // namespace ttcheck::compare
