#pragma once
// The rows of the table of formats, each defined in its own file.

#include "formats/format.hpp"

namespace ttcheck::formats {

extern const Format kSafetensors;

}  // namespace ttcheck::formats
