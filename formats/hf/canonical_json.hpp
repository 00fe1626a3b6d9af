// SPDX-License-Identifier: Apache-2.0
#pragma once
// One spelling for a JSON value, so that two that say the same are the same text.

#include <string>

#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// Without blanks, members by name, whole numbers without a point and others in shortest round-trip
/// form, strings quoted as C++ would (`\"`, `\\`, control characters by number).
std::string canonical_text(const Json& value);

}  // namespace ttcheck::formats
