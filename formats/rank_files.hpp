// SPDX-License-Identifier: Apache-2.0
#pragma once
// rank-files: a directory with one file a rank, placed by a layout.

#include <optional>
#include <vector>

#include "core/model/layout.hpp"
#include "formats/format.hpp"

namespace ttcheck::formats {

/// True when the `files.pattern` of one of the layouts matches a file of the directory: then it
/// opens as rank files whatever else it might be. Does not throw.
bool serves_layout(const Probe& probe, const std::vector<Layout>& layouts);

}  // namespace ttcheck::formats
