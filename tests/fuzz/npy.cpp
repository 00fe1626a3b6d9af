// SPDX-License-Identifier: Apache-2.0
// Arrays in the .npy format; what is accepted must lie inside the file.

#include <cstddef>
#include <cstdint>

#include "core/base/checked.hpp"
#include "formats/arrays/npy_array.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const ttcheck::tests::MemorySource file({bytes, bytes + size});
  try {
    ttcheck::State state;
    ttcheck::formats::read_npy(file, "w", state);
    for (const ttcheck::Record& record : state.records) {
      const auto count = ttcheck::element_count(record.shape);
      if (!ttcheck::within(record.piece.offset, ttcheck::byte_size(record.dtype, count), size)) {
        __builtin_trap();
      }
    }
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
