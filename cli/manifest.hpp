#pragma once
// `ttcheck manifest RUN`.

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Writes the manifest of the run to stdout, steps ascending, tensors in the order of the files;
/// with --verify compares the run with a manifest and reports. Returns the exit code: 2 where a
/// tensor could not be read, which is then said on stderr. Throws Error.
int manifest(const Options& options);

}  // namespace ttcheck::cli
