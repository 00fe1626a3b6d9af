// SPDX-License-Identifier: Apache-2.0
// events.jsonl of the native trace.

#include <cstddef>
#include <cstdint>

#include "formats/trace/events.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const ttcheck::tests::MemorySource file({bytes, bytes + size});
  static_cast<void>(ttcheck::formats::read_trace_events(file, {1, 2, 12}));
  return 0;
}
