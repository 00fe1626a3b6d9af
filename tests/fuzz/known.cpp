// SPDX-License-Identifier: Apache-2.0
// Any text either is a file of known differences, each of which says whether it is of a tensor, or
// an Error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.hpp"
#include "core/verdict/known_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const verdict::KnownFile file =
        verdict::parse_known(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const verdict::KnownDifference& one : file.differences) {
      if (one.date.empty() && one.tensors.empty() && one.codes.empty()) std::abort();
      for (const char* name : {"layers.3.mlp/output.0", "a", ""}) {
        const bool named = one.is_of({name, Phase::forward, 0, 0});
        if (!named && one.tensors.empty()) std::abort();
      }
      for (const Code code : one.codes) {
        if (!one.has(code)) std::abort();
      }
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
