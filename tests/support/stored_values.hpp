// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers in the form in which a tensor stores them.

#include <cstddef>
#include <vector>

#include "core/model/decode.hpp"

namespace ttcheck::tests {

/// `values` rounded to `dtype`, one after the other; of a complex dtype real and imaginary parts in
/// turn. Packed dtypes come one code a byte where `unpacked` says so.
inline std::vector<std::byte> stored_values(DType dtype, const std::vector<double>& values,
                                            bool unpacked = false) {
  const auto count = std::ssize(values) / (is_complex(dtype) ? 2 : 1);
  std::vector<std::byte> bytes(byte_size(dtype, count));
  from_doubles(dtype, values.data(), count, bytes.data());
  if (bits(dtype) >= 8 || !unpacked) return bytes;
  std::vector<std::byte> codes(static_cast<std::size_t>(count));
  unpack(dtype, bytes.data(), count, reinterpret_cast<std::uint8_t*>(codes.data()));
  return codes;
}

}  // namespace ttcheck::tests
