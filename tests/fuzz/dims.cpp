// SPDX-License-Identifier: Apache-2.0
// The dims grammar: what parses prints as a line that parses to the same placement.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "core/model/placement.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const Placement placement =
        parse_dims(std::string_view(reinterpret_cast<const char*>(data), size));
    const std::string printed = to_string(placement);
    if (to_string(parse_dims(printed)) != printed) std::abort();
  } catch (const Error&) {
  }
  return 0;
}
