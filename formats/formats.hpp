#pragma once
// The door of the room that reads files: bytes -> Run. Formats are found by an auction of verified
// bits, never by suffix.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/model/layout.hpp"
#include "core/model/run.hpp"

namespace ttcheck::formats {

struct OpenOptions {
  std::vector<Layout> layouts;  ///< of the user; used where `files.pattern` matches the run's files
  bool follow_links = false;    ///< also links that leave the run's root
};

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
