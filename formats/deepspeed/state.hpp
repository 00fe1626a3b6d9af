// SPDX-License-Identifier: Apache-2.0
#pragma once
// A tag directory as a State: everything but the folder of a universal checkpoint.

#include "core/model/run.hpp"
#include "formats/deepspeed/tag.hpp"

namespace ttcheck::formats {

/// Weights, optimizer state and facts of all ranks. The tag must outlive the State.
State deepspeed_state(const DeepspeedTag& tag);

}  // namespace ttcheck::formats
