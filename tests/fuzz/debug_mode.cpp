// SPDX-License-Identifier: Apache-2.0
// Any bytes as a log of torch's DebugMode, beside that of another rank.

#include <cstdint>
#include <fstream>
#include <string>

#include "core/assemble/assemble.hpp"
#include "core/base/error.hpp"
#include "formats/dumps/debug_mode/text.hpp"
#include "formats/open.hpp"
#include "tests/support/scratch_folder.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  for (const std::string_view item : ttcheck::formats::split_items(bytes)) {
    if (const auto tensor = ttcheck::formats::logged_tensor(item)) {
      for (const std::int64_t extent : tensor->shape) {
        if (extent < 0) __builtin_trap();
      }
    }
  }
  for (const char* name : {"/rank-00000.txt", "/rank-00001.txt"}) {
    std::ofstream(ttcheck::tests::scratch_folder() + name, std::ios::binary | std::ios::trunc)
        << bytes;
  }
  const auto run = ttcheck::formats::open(ttcheck::tests::scratch_folder());
  if (!run) return 0;
  try {
    ttcheck::assemble::assemble(run->open(0), run->mesh, {});
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
