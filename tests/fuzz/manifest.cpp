// SPDX-License-Identifier: Apache-2.0
// Any text either is a manifest, whose lines written again are the same manifest and which is a run
// without bytes, or an Error.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.hpp"
#include "core/manifest/as_run.hpp"
#include "formats/own/manifest.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ttcheck;
  try {
    const Manifest once =
        formats::parse_manifest({reinterpret_cast<const char*>(data), size}, "fuzz");
    std::string text = formats::manifest_head(once.head);
    for (const auto& [key, entry] : once.entries) {
      text += formats::manifest_line(key.first, key.second, entry);
    }
    const Manifest again = formats::parse_manifest(text, "fuzz");
    if (again.head != once.head || again.entries != once.entries) std::abort();
    const Run run = manifest::as_run(once, "fuzz");
    for (std::size_t i = 0; i < run.steps.size(); ++i) static_cast<void>(run.open(i));
  } catch (const Error&) {
    return 0;
  }
  return 0;
}
