// SPDX-License-Identifier: Apache-2.0
#pragma once
// The folders into which msprobe puts its dumps: `step<S>/rank<R>` or, of a process that belongs to
// no group, `step<S>/proc<pid>` (msprobe/core/dump/service.py, create_dirs).

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/model/finding.hpp"
#include "formats/readers/format.hpp"

namespace ttcheck::formats {

struct MsprobeFolders {
  /// The folder relative to the root, by step (-1: not said) and rank; empty for the root itself.
  std::map<std::int64_t, std::map<std::int32_t, std::string>> steps;
  bool of_group = false;  ///< ranks of a process group, be it of one
  std::vector<Finding> findings;
  std::uint64_t unclaimed = 0;  ///< bytes beside them
};

/// True for names that a rank's folder has: dump.json with stack.json, construct.json or
/// dump_tensor_data, or one of the others of the dumper alone.
bool is_msprobe_rank(const std::vector<std::string>& names);

/// True where the given folder is a dump, or one step or one rank of it.
bool is_msprobe_dump(const Probe& probe);

/// The given folder may be a dump, one step or one rank of it; `steps` is empty where it is none.
/// Several processes of one step that belong to no group are ranks in the order of their numbers.
/// Of two folders of one rank the first is read, and the other is a finding. Throws Error when two
/// folders are one step.
MsprobeFolders msprobe_folders(const Probe& probe);

}  // namespace ttcheck::formats
