// SPDX-License-Identifier: Apache-2.0
// Any text either is a kept report, of which every other report can be made, or an Error.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/error.hpp"
#include "formats/own/answer.hpp"
#include "reports/redact.hpp"
#include "reports/report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const Verdict verdict =
        formats::parse_answer({reinterpret_cast<const char*>(data), size}, "fuzz");
    for (const reports::Report& report : reports::reports()) {
      static_cast<void>(report.write(verdict, {.verbose = 2, .all = true}));
    }
    static_cast<void>(reports::redacted(verdict, {}));
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
