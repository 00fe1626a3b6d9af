// SPDX-License-Identifier: Apache-2.0
// JSON text, with every value of the tree looked at.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/bytes/json.hpp"

namespace {

using ttcheck::formats::Json;

void look_at(const Json& root) {
  std::vector<Json> waiting = {root};
  while (!waiting.empty()) {
    const Json value = waiting.back();
    waiting.pop_back();
    if (value.is(Json::Kind::object)) {
      for (const auto& [key, member] : value.members()) {
        if (!value.find(key)) __builtin_trap();
        waiting.push_back(member);
      }
    } else if (value.is(Json::Kind::array)) {
      for (const Json& item : value.items()) waiting.push_back(item);
    } else if (value.is(Json::Kind::integer) || value.is(Json::Kind::real)) {
      static_cast<void>(value.number());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto duplicates :
       {ttcheck::formats::Duplicates::refuse, ttcheck::formats::Duplicates::keep}) {
    try {
      const ttcheck::formats::JsonDocument document(text, "text", 0, duplicates);
      look_at(document.root());
    } catch (const ttcheck::Error&) {
    }
  }
  return 0;
}
