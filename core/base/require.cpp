// SPDX-License-Identifier: Apache-2.0
#include "core/base/require.hpp"

#include <cstdio>
#include <cstdlib>

namespace ttcheck {

void broken(const char* what, std::source_location place) {
  std::fprintf(stderr, "%s:%u: %s: required: %s\n", place.file_name(), place.line(),
               place.function_name(), what);
  std::abort();
}

}  // namespace ttcheck
