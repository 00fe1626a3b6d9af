// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file beside steps that names the newest one: `latest`, `latest_checkpointed_iteration.txt`.

#include <string_view>

#include "core/model/fact.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

/// What the tracker says, without blanks at its end, as the note `tracker.<name>`; the value is a
/// string. Throws Error when the file cannot be read, or is too long to be one.
Fact read_tracker_file(const Root& root, std::string_view name);

}  // namespace ttcheck::formats
