// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a run's tree could not show, told once and in one place.

#include <string_view>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

/// False for names of what is no part of a run (logs, pictures, code, hidden entries that no format
/// reads): that such a thing cannot be opened leaves nothing unchecked.
bool may_belong(std::string_view file);

/// Adds a TT501 for each fault of `root` since the last call whose file no finding names yet.
void tell_faults(const Root& root, std::vector<Finding>& findings);

}  // namespace ttcheck::formats
