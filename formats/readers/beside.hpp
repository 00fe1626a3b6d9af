// SPDX-License-Identifier: Apache-2.0
#pragma once
// What lies in a directory beside what its format took: never passed over in silence.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "formats/readers/format.hpp"

namespace ttcheck::formats {

struct Beside {
  std::vector<std::string> runs;  ///< that some format knows; directories end in `/`
  std::vector<std::string> rest;  ///< others that hold bytes
  std::uint64_t unclaimed = 0;    ///< bytes of all of them, of directories a few levels deep
  std::uint64_t rest_bytes = 0;   ///< of `rest` alone
};

/// Looks at the top level of the probe's directory; entries that are `ours` are left out.
Beside beside(const Probe& probe, const std::function<bool(const Entry&)>& ours);

/// What lies beside a trace: a warning that runs are not read, and what `rest_beside` says.
std::vector<Finding> findings_beside(const Beside& others, const Root& root);

/// The same of names below a dump's folder, which it could not read.
std::vector<Finding> findings_beside(const Probe& probe, const std::vector<std::string>& names);

/// What is of no known format: damage where a name promises arrays, else a note.
std::vector<Finding> rest_beside(const Beside& others, const Root& root);

/// The runs beside a checkpoint, by the names of their files or directories; the door opens them.
std::vector<NamedState> named_states(const Beside& others);

/// The first few of these names, and how many more there are.
std::string named(const std::vector<std::string>& names);

}  // namespace ttcheck::formats
