// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace ttcheck::formats {

/// Writes all of the text to a descriptor, through signals: 0, or the errno of what failed.
int write_all(int file, std::string_view text);

}  // namespace ttcheck::formats
