// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the names that a pickle imports stand for. Nothing here is a verdict of safety: they are
// data, code, or unknown.

#include <cstdint>

#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

enum class GlobalClass : std::uint8_t {
  data,     ///< only builds values: containers, numbers, tensors
  code,     ///< runs or loads code: os.system, eval, pip
  unknown,  ///< a class or function of somebody's
};

/// Classifies a global by the exact pair of module and name; a name with dots in it reaches through
/// whatever the module holds, and is code where any of its parts is called like what runs code.
GlobalClass classify(const Global& global);

}  // namespace ttcheck::formats
