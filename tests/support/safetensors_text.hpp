// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bytes of safetensors files, by hand.

#include <cstdint>
#include <string>
#include <string_view>

namespace ttcheck::tests {

inline std::string u64_le(std::uint64_t value) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
  return bytes;
}

/// Length, header, `data`.
inline std::string safetensors_of(std::string_view header, std::string_view data) {
  return u64_le(header.size()) + std::string(header) + std::string(data);
}

/// One f32 tensor of two elements, 1 and 2.
inline std::string small_safetensors(std::string_view name = "w") {
  return safetensors_of(
      "{\"" + std::string(name) + "\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}",
      std::string_view("\0\0\x80\x3f\0\0\0\x40", 8));
}

}  // namespace ttcheck::tests
