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
#include "core/model/layout.hpp"

namespace ttcheck {

struct ManifestEntry {
  std::string dtype;
  Shape shape;
  std::string hash;
  bool constant = false;  ///< all elements are the same; a line says so only where they are

  bool operator==(const ManifestEntry&) const = default;
};

/// What is known of the run, by which names and cuts of others meet its own.
struct ManifestHead {
  std::string format;  ///< a word of the format list; empty: an older manifest, which has none
  Numbers model;       ///< heads and the like, as its files state them
  bool tied_embeddings = false;

  bool operator==(const ManifestHead&) const = default;
};

struct Manifest {
  ManifestHead head;
  /// By step and tensor name, as `manifest_name` writes it.
  std::map<std::pair<std::optional<std::int64_t>, std::string>, ManifestEntry> entries;
};

/// The name that stands in a manifest: valid UTF-8, with phase, micro-batch and call where a trace
/// has them.
std::string manifest_name(const Identity& identity);

/// The tensor of which that is the name.
Identity identity_of(std::string_view manifest_name);

}  // namespace ttcheck
