#pragma once
// The rows of the table of formats, each defined in its own file.

#include "formats/format.hpp"

namespace ttcheck::formats {

extern const Format kSafetensors;
extern const Format kTrace;

}  // namespace ttcheck::formats
