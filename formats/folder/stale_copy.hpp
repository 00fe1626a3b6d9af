// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a step of a series is another one's files under a new number.

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/finding.hpp"
#include "formats/bytes/root.hpp"

namespace ttcheck::formats {

/// One step of a series: its number, and its file or directory below the root.
struct StepPlace {
  std::int64_t step = 0;
  std::string path;
};

/// TT506 where both hold the same files, byte for byte. Reads up to the first difference; throws
/// Error where a file cannot be read.
std::optional<Finding> stale_copy(const Root& root, const StepPlace& step, const StepPlace& other);

}  // namespace ttcheck::formats
