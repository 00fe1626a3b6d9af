// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header of a safetensors file: u64le N, N bytes of JSON, then one buffer of tensor bytes.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/dtype.hpp"
#include "core/model/finding.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

/// One tensor whose bytes are all there.
struct SafetensorsEntry {
  std::string name;
  DType dtype = DType::u8;
  Shape shape;              ///< elements, also of 4- and 6-bit types
  std::uint64_t begin = 0;  ///< first byte in the file
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;  ///< by place in the file
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Entries that cannot be used (TT501), gaps and trailing bytes (TT503), overlaps (TT504).
  std::vector<Finding> findings;
  std::uint64_t data_begin = 0;  ///< 8 + N
  std::uint64_t unclaimed = 0;   ///< bytes of the buffer that no entry names
  std::int64_t unreadable = 0;   ///< entries left out of `tensors`
};

/// Largest header that is read, the limit of the reference reader.
inline constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;

/// Reads the header in about 300 bytes and half a microsecond per tensor. Throws Error (file and
/// offset) when it cannot be read as a whole; what is wrong with single entries is a finding.
SafetensorsHeader read_safetensors_header(const Source& source);

}  // namespace ttcheck::formats
