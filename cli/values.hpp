// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of flags: text to a number, a range, a choice. All throw Usage with what was expected.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// A whole number in [lowest, highest].
std::int64_t parse_number(std::string_view flag, const std::string& text, std::int64_t lowest,
                          std::int64_t highest);

/// `512`, `64K`, `2G`, `2GiB`: bytes, powers of 1024.
std::uint64_t parse_bytes(std::string_view flag, const std::string& text);

StepRange parse_steps(const std::string& text);

/// `[GLOB:]V`: the last colon parts them, so that a glob may hold colons.
limits::ToleranceRule parse_tolerance(std::string_view flag, const std::string& text);

/// Refuses a glob that does not parse.
void parse_glob(std::string_view flag, const std::string& text);

/// `FORMAT=PATH`.
OutputTarget parse_output(const std::string& text);

/// `FILE`, `reference=FILE` or `candidate=FILE`.
SideFile parse_layout_file(const std::string& text);

/// `reference=FILE` or `candidate=FILE`.
SideFile parse_manifest(const std::string& text);

/// Index of `text` among `choices`.
std::size_t parse_choice(std::string_view flag, const std::string& text,
                         const std::vector<std::string>& choices);

}  // namespace ttcheck::cli
