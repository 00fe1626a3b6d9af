// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a run is opened: what the user says of it beside the path.

#include <vector>

#include "core/model/layout.hpp"

namespace ttcheck::formats {

struct OpenOptions {
  std::vector<Layout> layouts;  ///< of the user; used where `files.pattern` matches the run's files
  bool follow_links = false;    ///< also links that leave the run's root
  bool several = false;         ///< runs side by side, of which none is meant, may be opened
};

}  // namespace ttcheck::formats
