// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/isolate.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <new>
#include <string>

#include "tests/support/array_source.hpp"

namespace ttcheck::formats {
namespace {

tests::ArraySource source(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return tests::ArraySource(std::move(bytes));
}

std::string message(const Source& file,
                    const std::function<std::vector<std::byte>(const Source&)>& body) {
  try {
    static_cast<void>(in_child(file, body));
  } catch (const Error& error) {
    CHECK(error.where().file == "memory");
    return error.message();
  }
  return "returned";
}

TEST_CASE("what the child read and returned comes back whole") {
  const tests::ArraySource file = source(300'000);
  const std::vector<std::byte> all = in_child(file, [](const Source& seen) {
    std::vector<std::byte> out(static_cast<std::size_t>(seen.size()));
    seen.read(0, out);
    return out;
  });
  std::vector<std::byte> expected(300'000);
  file.read(0, expected);
  CHECK(all == expected);
  CHECK(in_child(file, [](const Source&) { return std::vector<std::byte>{}; }).empty());
}

TEST_CASE("an error of the body is an error here") {
  CHECK(message(source(8), [](const Source&) -> std::vector<std::byte> {
          throw Error("no good");
        }) == "no good");
  CHECK(message(source(8), [](const Source& seen) {
          std::vector<std::byte> out(9);
          seen.read(0, out);
          return out;
        }) == "read beyond the end of the file");
}

TEST_CASE("a child that dies is an error, and so is one without memory") {
  CHECK(message(source(8), [](const Source&) -> std::vector<std::byte> {
          std::raise(SIGSEGV);
          return {};
        }) == "the process that parsed it ended: signal 11 (Segmentation fault)");
  CHECK(message(source(8), [](const Source&) -> std::vector<std::byte> {
          throw std::bad_alloc();
        }) == "the process that parsed it ended: it ran out of memory");
}

TEST_CASE("a child that runs in circles is ended by its CPU time") {
  CHECK(message(source(8), [](const Source&) -> std::vector<std::byte> {
          for (volatile bool more = true; more;) continue;
          return {};
        }) == "the process that parsed it ended: signal 24 (CPU time limit exceeded)");
}

TEST_CASE("bytes that this process cannot read fail in the child") {
  tests::ArraySource file = source(200'000);
  file.broken_from = 100'000, file.broken_to = 100'001;
  CHECK(message(file, [](const Source& seen) {
          std::vector<std::byte> out(200'000);
          seen.read(0, out);
          return out;
        }) == "broken sector");
}

}  // namespace
}  // namespace ttcheck::formats
