// SPDX-License-Identifier: Apache-2.0
// The first line is a pattern, the rest a name: the pattern either is a glob, or an Error.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/error.hpp"
#include "core/base/glob.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t end = text.find('\n');
  const std::string_view name =
      end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  try {
    const ttcheck::Glob glob(text.substr(0, end));
    glob.match(name);
  } catch (const ttcheck::Error&) {
    return 0;
  }
  return 0;
}
