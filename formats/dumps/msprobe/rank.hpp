// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folder of one rank of msprobe's dump -> records: dump.json says what there is, and tensor
// files that it does not name (a run that crashed before it was written) are read by their names.

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {

/// Torch files that records point into.
using OpenedFiles = std::deque<std::unique_ptr<const TorchFile>>;

/// Adds the rank's records, facts and findings to `state`; `folder` is relative to the root.
/// `undeclared`: of what may be several ranks, as nothing says how they hold what both have. Throws
/// Error when nothing of the folder can be read.
void add_msprobe_rank(const Root& root, const std::string& folder, std::int32_t rank,
                      bool undeclared, OpenedFiles& opened, RankFacts& facts, State& state);

}  // namespace ttcheck::formats
