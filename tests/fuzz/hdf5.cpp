// SPDX-License-Identifier: Apache-2.0
// HDF5 files: parsed by the library in a child process, read by us.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/bytes/hdf5.hpp"
#include "tests/support/memory_source.hpp"

/// The library asks for what a damaged file says, and can be told no, which ASan takes for a fault.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const ttcheck::tests::MemorySource file({bytes, bytes + size});
  try {
    const ttcheck::formats::Hdf5Contents contents = ttcheck::formats::read_hdf5(file, "ttcheck");
    for (const ttcheck::formats::Hdf5Dataset& set : contents.datasets) {
      if (set.source == nullptr || set.source->size() - set.offset > (1U << 20)) continue;
      std::vector<std::byte> out(static_cast<std::size_t>(
          ttcheck::byte_size(set.dtype, ttcheck::element_count(set.shape))));
      try {
        set.source->read(set.offset, out);
      } catch (const ttcheck::Error&) {
      }
    }
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
