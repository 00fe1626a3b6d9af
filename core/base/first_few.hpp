// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names in a message, of which there may be any number.

#include <cstddef>
#include <span>
#include <string>

namespace ttcheck {

/// `a, b and 3 more`: the first `most` of them with a comma between.
std::string first_few(std::span<const std::string> names, std::size_t most);

}  // namespace ttcheck
