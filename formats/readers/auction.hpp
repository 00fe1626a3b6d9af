// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which format a place has, and opening it: what the door does for the path that the user gave, and
// directories do for the files and directories in them.

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// A probe with the bytes that it points to.
struct Looked {
  Probe probe;
  std::vector<std::byte> head;
};

/// REQUIRES that `root` outlives the result. `head`: of the file, where it was read before;
/// `above`: of who looks at it from above, where somebody does. Throws Error when it cannot be
/// listed or read.
std::unique_ptr<Looked> look(const Root& root, int depth = 0, std::vector<std::byte> head = {},
                             const Glances* above = nullptr);

/// The row whose bid is highest, or null when there is none.
const Format* auction(const Probe& probe);

/// Auctions and opens. The Run keeps `root` alive. Throws Error; the one for a place that no format
/// knows says what was seen and tried.
Run open_root(std::shared_ptr<const Root> root, const OpenOptions& options, int depth = 0);

/// Opens the file or directory `path` below `root` as a run of its own. `depth`: of `root`'s probe.
Run open_below(const Root& root, std::string_view path, const OpenOptions& options, int depth);

/// Opens what lies at `path` below a probe as a run of its own; its first bytes are not read again
/// where bidders asked for them.
Run open_below(const Probe& probe, std::string_view path, const OpenOptions& options);

/// Opens what lies in a directory of steps itself, as a run. REQUIRES that `root` outlives it.
Run open_alone(const Root& root, const OpenOptions& options, int depth);

/// True when some format bids for the file or directory `path` below; looked up once. One thread at
/// a time may ask.
bool is_known(const Probe& probe, std::string_view path);

/// Ways to open a directory that are no formats themselves: a series of steps, a folder of
/// independent files, the parent of one run. They bid with the formats.
std::span<const Format* const> containers();

}  // namespace ttcheck::formats
