// SPDX-License-Identifier: Apache-2.0
// Headers of safetensors files; what is accepted must lie inside the file.

#include <cstddef>
#include <cstdint>

#include "core/base/checked.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const ttcheck::tests::MemorySource file({bytes, bytes + size});
  try {
    const auto header = ttcheck::formats::read_safetensors_header(file);
    for (const auto& tensor : header.tensors) {
      const auto count = ttcheck::element_count(tensor.shape);
      if (!ttcheck::within(tensor.begin, ttcheck::byte_size(tensor.dtype, count), size)) {
        __builtin_trap();
      }
    }
    if (header.unclaimed > size) __builtin_trap();
  } catch (const ttcheck::Error&) {
  }
  return 0;
}
