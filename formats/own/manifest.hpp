// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of a manifest (core/model/manifest.hpp): a line of JSON for each tensor of each step.
//
//   {"ttcheck_manifest": 1, "format": "hf", "model": {"heads": 32}}
//   {"step": 10, "name": "layers.0.up.weight", "dtype": "f32", "shape": [6, 4], "hash": "xxh3:..."}

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/manifest.hpp"

namespace ttcheck::formats {

/// The first line; what is not known is left out.
std::string manifest_head(const ManifestHead& head);
std::string manifest_line(std::optional<std::int64_t> step, const std::string& name,
                          const ManifestEntry& entry);

/// Throws Error with file and offset: another version, a line that is none, a tensor twice.
Manifest parse_manifest(const std::string& text, const std::string& path);
Manifest read_manifest(const std::string& path);

}  // namespace ttcheck::formats
