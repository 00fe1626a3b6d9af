// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one format is to the door: a bid and an open. One file per format, one row in table.cpp.

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/run.hpp"
#include "formats/bytes/root.hpp"
#include "formats/readers/bid.hpp"
#include "formats/readers/open_options.hpp"

namespace ttcheck::formats {

struct Glances;

/// What a bidder may look at: the opened root, and for a file its first bytes. Only `root` outlives
/// the call of `open`: the Run that comes out of it keeps the root alive, and may refer to it.
struct Probe {
  const Root& root;                    ///< the directory or the single file that was given
  std::string file;                    ///< relative path of the single file; empty for a directory
  std::span<const std::byte> head;     ///< up to 16 KiB from the start; empty for a directory
  std::vector<std::string> names;      ///< of a directory: entries of its top level, sorted
  int depth = 0;                       ///< how many directories were opened to get here
  bool alone = false;                  ///< what lies there is meant, without the steps beside it
  std::span<const Layout> layouts{};   ///< that the user gave
  std::shared_ptr<Glances> glances{};  ///< what bidders asked of what lies below; may be null
};

struct Format {
  std::string_view name;
  std::string_view summary;
  /// What it offers for the place (formats/readers/bid.hpp). Reads little, changes nothing, does
  /// not throw.
  Bid (*bid)(const Probe& probe);
  /// Opens what it bid for. Throws Error. Need not set `path`, `owner`, `bytes_read` and `close` of
  /// the Run: the door does, where they are not set.
  Run (*open)(const Probe& probe, const OpenOptions& options);
};

/// The table.
std::span<const Format* const> table();

}  // namespace ttcheck::formats
