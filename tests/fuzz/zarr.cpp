// SPDX-License-Identifier: Apache-2.0
// Tables of zarr arrays; chunks must lie inside the array that the table says.

#include <cstddef>
#include <cstdint>
#include <string>

#include "formats/arrays/zarr_array.hpp"
#include "tests/support/temp_dir.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ttcheck::tests::TempDir directory;
  directory.write("a/.zarray", std::string(data, data + size));
  for (const char* name : {"a/0", "a/0.0", "a/1.0", "a/7"}) directory.write(name, "01234567");
  try {
    const ttcheck::formats::Root root(directory.path(), false);
    const auto array = ttcheck::formats::read_zarr_array(root, "a");
    for (const auto& chunk : array.chunks) {
      if (!contains(ttcheck::whole(array.shape), {chunk.lo, chunk.shape})) __builtin_trap();
    }
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
