// SPDX-License-Identifier: Apache-2.0
#pragma once
// A manifest: the hash of each tensor of each step, so that runs can be told apart without their
// bytes.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/model/box.hpp"
#include "core/model/identity.hpp"

namespace ttcheck {

struct ManifestEntry {
  std::string dtype;
  Shape shape;
  std::string hash;
  bool constant = false;  ///< all elements are the same; a line says so only where they are

  bool operator==(const ManifestEntry&) const = default;
};

/// The entries of a manifest by step and tensor name, as `manifest_name` writes it.
using Manifest = std::map<std::pair<std::optional<std::int64_t>, std::string>, ManifestEntry>;

/// The name that stands in a manifest: valid UTF-8, with phase, micro-batch and call where a trace
/// has them.
std::string manifest_name(const Identity& identity);

/// The tensor's name within one of these.
std::string_view tensor_of(std::string_view manifest_name);

}  // namespace ttcheck
