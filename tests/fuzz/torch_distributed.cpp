// SPDX-License-Identifier: Apache-2.0
// Distributed tensors of one rank's file, through to the boxes that two ranks' records fill.

#include <cstddef>
#include <cstdint>

#include "core/assemble/assemble.hpp"
#include "formats/rank_files/agreement.hpp"
#include "formats/torch/state.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const tests::MemorySource source({bytes, bytes + size});
  try {
    const formats::TorchFile file = formats::read_torch(source);
    formats::DistributedReader reader(file, 0);
    formats::TorchPart part;
    part.rank = 0;
    part.distributed = &reader;
    State state = formats::torch_state(file, part);
    const auto mesh = formats::run_mesh(reader, 2);
    if (!mesh) return 0;
    formats::Agreement agreement(2);
    agreement.take("model", "", 0, reader, state);
    agreement.findings();
    std::erase_if(state.records, [&](const Record& record) {
      for (const auto& [axis, at] : record.at) {
        if (at >= mesh->size_of(axis)) return true;
      }
      return false;
    });
    assemble::assemble(std::move(state), *mesh, {});
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
