// SPDX-License-Identifier: Apache-2.0
// Torch files in all their containers, through to records and the first byte of each tensor.

#include <cstddef>
#include <cstdint>

#include "formats/torch/state.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const tests::MemorySource source({bytes, bytes + size});
  try {
    const formats::TorchFile file = formats::read_torch(source);
    const State state = formats::torch_state(file);
    for (const Record& record : state.records) {
      std::byte first{};
      if (element_count(record.shape) == 0 || record.piece.source->sequential()) continue;
      record.piece.source->read(record.piece.offset, std::span(&first, 1));
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
