// SPDX-License-Identifier: Apache-2.0
#pragma once
// `ttcheck manifest RUN`.

#include "cli/options.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::cli {

/// What was typed, as it is meant: without --write and --verify stdout gets the manifest, as of
/// sha256sum. Throws Usage.
Options manifest_options(Options options);

/// Hashes every tensor and writes the manifest, whole or not at all, steps ascending, tensors in
/// the order of the files; with --verify, compares the run with one. Throws Error.
Verdict manifest(const Options& options);

}  // namespace ttcheck::cli
