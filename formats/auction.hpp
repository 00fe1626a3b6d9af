#pragma once
// Which format a place has, and opening it: what the door does for the path that the user gave, and
// directories do for the files and directories in them.

#include <memory>
#include <string_view>
#include <vector>

#include "formats/format.hpp"

namespace ttcheck::formats {

/// A probe with the bytes that it points to.
struct Looked {
  Probe probe;
  std::vector<std::byte> head;
};

/// REQUIRES that `root` outlives the result. Throws Error when it cannot be listed or read.
std::unique_ptr<Looked> look(const Root& root, int depth = 0);

/// The row that knows most bits of it, or null when none does. Throws Error on a tie.
const Format* auction(const Probe& probe);

/// Auction and open. The Run keeps `root` alive. Throws Error; the one for a place that no format
/// knows says what was seen and tried.
Run open_root(std::shared_ptr<const Root> root, const OpenOptions& options, int depth = 0);

/// The file or directory `path` below `probe.root`, opened as a run of its own.
Run open_below(const Probe& probe, std::string_view path, const OpenOptions& options);

/// True when some format bids for the file or directory `path` below.
bool is_known(const Probe& probe, std::string_view path);

}  // namespace ttcheck::formats
