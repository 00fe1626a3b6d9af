// SPDX-License-Identifier: Apache-2.0
// Records of the native trace, as the text beside an array.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/trace/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ttcheck::DType dtype :
       {ttcheck::DType::f32, ttcheck::DType::u16, ttcheck::DType::u8}) {
    ttcheck::Record stored;
    stored.dtype = stored.piece.dtype = dtype;
    stored.shape = {dtype == ttcheck::DType::u8 ? 0 : 4, 6};
    ttcheck::formats::DimsCache dims;
    try {
      static_cast<void>(
          ttcheck::formats::parse_trace_record(text, stored, {"file", {}, "key"}, dims));
    } catch (const ttcheck::Error&) {
    }
  }
  return 0;
}
