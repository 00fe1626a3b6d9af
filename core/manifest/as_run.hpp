// SPDX-License-Identifier: Apache-2.0
#pragma once
// A manifest as the run that it was made of: its tensors without their bytes.

#include <string>

#include "core/model/manifest.hpp"
#include "core/model/run.hpp"

namespace ttcheck::manifest {

/// Each tensor's record has its hash, and no bytes. `path`: of the file. REQUIRES that `manifest`
/// outlives the run. A line of a dtype that is not known is a finding of its step, and unreadable.
Run as_run(const Manifest& manifest, const std::string& path);

}  // namespace ttcheck::manifest
