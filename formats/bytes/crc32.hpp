#pragma once
// CRC-32 of zip archives (polynomial 0xedb88320, reflected), as zlib's `crc32` counts it.

#include <cstddef>
#include <cstdint>
#include <span>

namespace ttcheck::formats {

/// The sum of what `crc` is the sum of with `bytes` behind it; 0 is the sum of nothing.
std::uint32_t crc32_of(std::uint32_t crc, std::span<const std::byte> bytes);

/// The sum of two runs of bytes, one behind the other; the second has `size` bytes.
std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::uint64_t size);

}  // namespace ttcheck::formats
