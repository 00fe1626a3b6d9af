#pragma once
// A manifest: the hash of each tensor of each step, a line of JSON each, so that runs can be told
// apart without their bytes.
//
//   {"ttcheck_manifest": 1}
//   {"step": 10, "name": "layers.0.up.weight", "dtype": "f32", "shape": [6, 4], "hash": "xxh3:..."}

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/compare/hash.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::cli {

struct ManifestEntry {
  std::string dtype;
  Shape shape;
  std::string hash;
  bool constant = false;  ///< all elements are the same; a line says so only where they are

  bool operator==(const ManifestEntry&) const = default;
};

/// By step and tensor name, as `manifest_name` writes it.
using Manifest = std::map<std::pair<std::optional<std::int64_t>, std::string>, ManifestEntry>;

/// The name that stands in a manifest: valid UTF-8, with phase, micro-batch and call where a trace
/// has them.
std::string manifest_name(const Identity& identity);

/// The tensor's name within one of these.
std::string_view tensor_of(std::string_view manifest_name);

ManifestEntry manifest_entry(const Tensor& tensor, compare::Hash hash);

std::string manifest_head();
std::string manifest_line(std::optional<std::int64_t> step, const std::string& name,
                          const ManifestEntry& entry);

/// Throws Error with file and offset: another version, a line that is none, a tensor twice.
Manifest read_manifest(const std::string& path);

}  // namespace ttcheck::cli
