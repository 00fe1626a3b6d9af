// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files in which Megatron-LM saves gradients and activations (--save-wgrads-interval and the
// like): `{wgrads,dgrads,activations}/iter_NNNNNNN/mp_rank_TT[_PPP][_EEE].pth`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/readers/format.hpp"

namespace ttcheck::formats {

/// `unknown`: no folder of the path is called so.
enum class DumpedKind : std::uint8_t { wgrads, dgrads, activations, unknown };

struct MegatronDumpFile {
  std::string path;  ///< below the root
  DumpedKind kind = DumpedKind::unknown;
  std::vector<std::int64_t> numbers;  ///< of its name: tp, then pp, ep or both
};

struct MegatronDumpFiles {
  /// The files by iteration (none: a folder's name does not say it), then by path.
  std::map<std::optional<std::int64_t>, std::vector<MegatronDumpFile>> steps;
  std::uint64_t unclaimed = 0;      ///< bytes of what else lies there
  std::vector<std::string> others;  ///< its names
};

/// Finds the files of a directory that holds the kinds, or iterations of one, or the files of one
/// iteration; empty for others.
MegatronDumpFiles find_megatron_dump(const Root& root);

}  // namespace ttcheck::formats
