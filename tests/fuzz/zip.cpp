// SPDX-License-Identifier: Apache-2.0
// Archives: the directory, every member's bytes, and the checksums.

#include <array>
#include <cstddef>
#include <cstdint>

#include "formats/bytes/zip.hpp"
#include "tests/support/memory_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  const auto* bytes = reinterpret_cast<const std::byte*>(data);
  const tests::MemorySource source({bytes, bytes + size});
  try {
    const formats::Zip zip(source);
    check_crc(zip, std::uint64_t{1} << 20);
    for (std::size_t i = 0; i < zip.members().size(); ++i) {
      if (!zip.members()[i].problem.empty()) continue;
      std::array<std::byte, 16> last{};
      const Source& member = zip.source(i);
      if (member.size() < last.size() || member.size() > (std::uint64_t{1} << 20)) continue;
      try {
        member.read(member.size() - last.size(), last);
      } catch (const Error&) {
        continue;
      }
    }
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
