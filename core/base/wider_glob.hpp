// SPDX-License-Identifier: Apache-2.0
#pragma once
// What somebody may have meant by a glob that matches nothing.

#include <string>
#include <string_view>

namespace ttcheck {

/// The glob with `**` for each lone `*`, which stays within one part between dots; empty where it
/// has none.
std::string wider_glob(std::string_view glob);

/// "; a * stays within one part between dots, ** does not: '**mlp**'".
std::string wider_words(std::string_view wider);

}  // namespace ttcheck
