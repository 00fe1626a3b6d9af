// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that are not what their name says, and kinds of files that are known but not read here.

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "core/model/finding.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

/// What a file that no format knows looks like ("a tar archive"), by `head`, its first bytes, and
/// by the names in a zip archive; empty: nothing known. Such files are refused: nothing is
/// unpacked.
std::string_view foreign_kind(const Source& file, std::span<const std::byte> head);

/// A warning when the name's ending belongs to other formats than the one that was found by
/// content.
std::optional<Finding> name_mismatch(std::string_view file_name, std::string_view format,
                                     Where where);

}  // namespace ttcheck::formats
