// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/stream.hpp"

#include <doctest/doctest.h>

#include <span>
#include <string>

#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"

namespace ttcheck::formats {
namespace {

/// Counts the bytes that are read.
class Counted final : public Source {
 public:
  explicit Counted(const std::string& text) : text_(tests::to_bytes(text)) {}

  std::uint64_t size() const override { return text_.size(); }
  void read(std::uint64_t offset, std::span<std::byte> out) const override {
    bytes += out.size();
    text_.read(offset, out);
  }
  Where where(std::uint64_t offset) const override { return text_.where(offset); }

  mutable std::uint64_t bytes = 0;

 private:
  tests::MemorySource text_;
};

TEST_CASE("stream: short lines do not read the source again and again") {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "I" + std::to_string(i) + "\n";
  const Counted source(text);
  Stream in(source);
  for (int i = 0; i < 100'000; ++i) {
    CHECK(in.u8("opcode") == 'I');
    const std::string line = in.line(64 * 1024, "number");
    if (line != std::to_string(i)) FAIL(line);
  }
  CHECK(in.done());
  CHECK(source.bytes <= 2 * text.size());
}

TEST_CASE("stream: a line's end is looked for within the limit only") {
  const std::string text = "abc\n" + std::string(200'000, 'x') + "\nend\n";
  const Counted source(text);
  Stream in(source);
  CHECK_THROWS_WITH_AS(in.line(3, "line"), "memory:0x0: line: no end of line within 3 bytes",
                       Error);
  CHECK(in.line(4, "line") == "abc");
  CHECK_THROWS_WITH_AS(in.line(64 * 1024, "line"),
                       "memory:0x4: line: no end of line within 65536 bytes", Error);
  CHECK(in.line(300'000, "line").size() == 200'000);
  CHECK(in.line(300'000, "line") == "end");
  CHECK_THROWS_WITH_AS(in.line(10, "line"), "memory:0x30d49: line: no end of line within 0 bytes",
                       Error);
}

}  // namespace
}  // namespace ttcheck::formats
