// SPDX-License-Identifier: Apache-2.0
#pragma once
// Small native traces, written by hand: safetensors payloads of f32 arrays that hold 0, 1, 2, ...

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/safetensors_text.hpp"

namespace ttcheck::tests {

inline std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// A rank's file; each array is of shape {count}, its values count up from `first`, its record is
/// given as JSON text.
class TraceFile {
 public:
  TraceFile& add(std::string_view key, std::int64_t count, std::string_view record,
                 float first = 0) {
    metadata_ += "," + json_string(key) + ":" + json_string(record);
    const std::size_t begin = data_.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const float value = first + static_cast<float>(i);
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      data_.append(bytes, sizeof value);
    }
    tensors_ += "," + json_string(key) + ":{\"dtype\":\"F32\",\"shape\":[" + std::to_string(count) +
                "],\"data_offsets\":[" + std::to_string(begin) + "," +
                std::to_string(data_.size()) + "]}";
    return *this;
  }

  std::string text() const {
    return safetensors_of(
        "{\"__metadata__\":{\"ttcheck_trace\":\"1\"" + metadata_ + "}" + tensors_ + "}", data_);
  }

 private:
  std::string metadata_, tensors_, data_;
};

/// run.json of a world of `tp` ranks.
inline std::string run_json(int tp = 1, std::string_view more = "") {
  std::string ranks;
  for (int rank = 0; rank < tp; ++rank) {
    ranks += (rank == 0 ? "{\"tp\":" : ",{\"tp\":") + std::to_string(rank) + "}";
  }
  return "{\"ttcheck_trace\":1,\"world_size\":" + std::to_string(tp) +
         ",\"mesh\":{\"tp\":" + std::to_string(tp) + "},\"ranks\":[" + ranks + "]" +
         std::string(more) + "}";
}

}  // namespace ttcheck::tests
