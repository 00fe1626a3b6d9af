// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opening a tag directory of DeepSpeed.

#include <memory>

#include "formats/deepspeed/tag.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// Opens all files; what cannot be read or is not there is a finding. Throws Error when none can be
/// read, or when the numbers of ranks are none.
std::shared_ptr<DeepspeedTag> open_deepspeed(const Probe& probe);

/// Opens as open_deepspeed does a directory whose optimizer state was merged: no rank has a share
/// of its own.
std::shared_ptr<DeepspeedTag> open_universal_tag(const Probe& probe);

}  // namespace ttcheck::formats
