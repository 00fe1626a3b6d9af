// SPDX-License-Identifier: Apache-2.0
// Any text either is a limits file whose entries make limits and which prints as itself, or an
// Error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/base/error.hpp"
#include "core/limits/limits_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const limits::LimitsFile file =
        limits::parse_limits(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
    for (const char* name : {"layers.3.mlp/output.0", "a", ""}) {
      Tensor tensor;
      tensor.identity = {name, Phase::forward, 0, 0};
      const limits::LimitEntry* entry = file.entry_for(tensor.identity);
      if (entry != nullptr) limits::measured_limit(file, *entry, tensor, DType::bf16);
    }
    const std::string text = limits::print_limits(file);
    if (limits::print_limits(limits::parse_limits(text, "fuzz")) != text) std::abort();
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
