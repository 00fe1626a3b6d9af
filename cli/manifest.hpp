// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck manifest RUN`.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// Hashes every tensor and, with --write, writes the manifest, whole or not at all, steps
/// ascending, tensors in the order of the files; with --verify, compares the run with one. Copies
/// on several ranks are compared with each other, since a hash is of one. Throws Error and Usage.
Verdict manifest(const Options& options);

}  // namespace ttcheck::cli
