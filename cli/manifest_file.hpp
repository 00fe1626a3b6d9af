// SPDX-License-Identifier: Apache-2.0
#pragma once
// A manifest: the hash of each tensor of each step, a line of JSON each, so that runs can be told
// apart without their bytes.
//
//   {"ttcheck_manifest": 1}
//   {"step": 10, "name": "layers.0.up.weight", "dtype": "f32", "shape": [6, 4], "hash": "xxh3:..."}

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/compare/hash.hpp"
#include "core/model/manifest.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::cli {

ManifestEntry manifest_entry(const Tensor& tensor, compare::Hash hash);

std::string manifest_head();
std::string manifest_line(std::optional<std::int64_t> step, const std::string& name,
                          const ManifestEntry& entry);

/// Throws Error with file and offset: another version, a line that is none, a tensor twice.
Manifest read_manifest(const std::string& path);

}  // namespace ttcheck::cli
