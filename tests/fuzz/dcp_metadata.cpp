// SPDX-License-Identifier: Apache-2.0
// The table of a distributed checkpoint, and the names that follow from it.

#include <cstddef>
#include <cstdint>

#include "formats/dcp/metadata.hpp"
#include "formats/dcp/names.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const tests::MemorySource source({bytes, bytes + size});
  try {
    const formats::DcpMetadata metadata = formats::read_dcp_metadata(source);
    formats::DcpNames names({&metadata});
    for (const std::string& optimizer : names.optimizers()) {
      std::vector<Finding> findings;
      names.name_numbers(optimizer, {{"0", "1"}, {"2"}}, findings);
    }
    for (const formats::DcpTensor& tensor : metadata.tensors) {
      if (names.tensor(tensor.name).empty() && !tensor.name.empty()) return 0;
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
