// SPDX-License-Identifier: Apache-2.0
#pragma once
// A report that was kept as JSON (ttcheck-json.5) -> the answer that it tells.

#include <string>

#include "core/model/verdict.hpp"

namespace ttcheck::formats {

/// What the file says, as whoever made it knew it, less what JSON does not keep: rows of equal
/// tensors where --all was not given, pictures of what lies where inside a tensor, and all limits
/// of a tensor but the one that decided. Throws Error with file and offset: no report of a
/// comparison, another schema, a report of an older program that lacks what is needed.
Verdict parse_answer(const std::string& text, const std::string& path);
Verdict read_answer(const std::string& path);

}  // namespace ttcheck::formats
