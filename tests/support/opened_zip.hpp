// SPDX-License-Identifier: Apache-2.0
#pragma once
// Archives in memory, opened; and a small one whose places are known.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "formats/bytes/zip.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::tests {

struct OpenedZip {
  explicit OpenedZip(const std::string& text)
      : source(std::make_unique<MemorySource>(to_bytes(text), "a.zip")), zip(*source) {}

  std::string content(std::size_t member) const {
    const Source& from = zip.source(member);
    std::string text(from.size(), '\0');
    from.read(0, std::as_writable_bytes(std::span(text)));
    return text;
  }

  bool says(std::string_view text, Severity severity = Severity::warning) const {
    return std::any_of(zip.findings().begin(), zip.findings().end(), [&](const Finding& finding) {
      return finding.severity == severity && finding.message.find(text) != std::string::npos;
    });
  }

  std::unique_ptr<MemorySource> source;
  formats::Zip zip;
};

/// Two stored members and one deflated one; the places of its fields are known.
inline ZipWriter plain_zip() {
  ZipWriter made;
  made.add("a/one", "first");
  made.add("a/two", "second member");
  made.add("a/three", std::string(5000, 'x'), {true, false, false, ""});
  made.finish();
  return made;
}

}  // namespace ttcheck::tests
