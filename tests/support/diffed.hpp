// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two runs on disk, compared as `ttcheck diff` compares them.

#include <string>

#include "cli/diff.hpp"

namespace ttcheck::tests {

inline Verdict diffed(const std::string& reference, const std::string& candidate) {
  cli::Options options;
  options.command = "diff";
  options.words = {reference, candidate};
  options.progress = cli::When::never;
  return cli::diff(options);
}

}  // namespace ttcheck::tests
