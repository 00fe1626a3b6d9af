// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run, held to a manifest.

#include <string>

#include "core/diff/options.hpp"
#include "core/model/manifest.hpp"
#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::manifest {

/// Names meet as in a diff, the manifest being the reference: a run of another layout, or of other
/// names whose tensors are cut and joined in another way, is put together as the manifest has it.
/// Then each tensor's hash must be the same (TT502), and dtype and shape (TT307). A step that the
/// manifest has and the run has not is an error. `path`: of the manifest.
Verdict verify(const Manifest& manifest, const std::string& path, const Run& run,
               const diff::DiffOptions& how);

}  // namespace ttcheck::manifest
