// SPDX-License-Identifier: Apache-2.0
#pragma once
// The door of the room that reads files: bytes -> Run. Formats are found by an auction of verified
// bits, never by suffix.

#include <span>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/model/run.hpp"
#include "formats/readers/open_options.hpp"

namespace ttcheck::formats {

/// Opens a file or directory. Reads metadata only. What is damaged but can be described becomes a
/// finding of the Run or State; an Error means that nothing could be read at all.
Result<Run> open(const std::string& path, const OpenOptions& options = {});

/// A row of the table of formats.
struct FormatRow {
  std::string_view name;     ///< a word of the JSON contract
  std::string_view summary;  ///< one line
};

/// All formats that this build reads, in the order of the table.
std::span<const FormatRow> formats();

}  // namespace ttcheck::formats
