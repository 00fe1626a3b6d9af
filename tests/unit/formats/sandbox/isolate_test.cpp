// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/isolate.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "formats/sandbox/confine.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::formats {
namespace {

using Bytes = std::vector<std::byte>;

tests::ArraySource source(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  return tests::ArraySource(std::move(bytes));
}

std::string message(const Source& file, const WorkerParser& parser) {
  try {
    static_cast<void>(in_child(file, parser, "argument"));
  } catch (const Error& error) {
    CHECK(error.where().file == "memory");
    return error.message() + (error.is_unable() ? " (unable)" : "");
  }
  return "returned";
}

Bytes first(const Source& seen, std::uint64_t count) {
  Bytes out(static_cast<std::size_t>(count));
  seen.read(0, out);
  return out;
}

void load_nothing() {}
void fail_to_load() { throw Error::unable("no such library"); }

const WorkerParser kAll(load_nothing, [](const Source& seen, std::string_view) {
  return first(seen, seen.size());
});
const WorkerParser kNothing(load_nothing, [](const Source&, std::string_view) { return Bytes{}; });
const WorkerParser kArgument(nullptr, [](const Source&, std::string_view argument) {
  const auto bytes = std::as_bytes(std::span(argument));
  return Bytes(bytes.begin(), bytes.end());
});
const WorkerParser kFailing(load_nothing, [](const Source&, std::string_view) -> Bytes {
  throw Error("no good");
});
const WorkerParser kUnloaded(fail_to_load, [](const Source&, std::string_view) { return Bytes{}; });
const WorkerParser kBeyond(load_nothing, [](const Source& seen, std::string_view) {
  return first(seen, seen.size() + 1);
});
const WorkerParser kCrashing(load_nothing, [](const Source&, std::string_view) -> Bytes {
  std::raise(SIGSEGV);
  return {};
});
const WorkerParser kAborting(load_nothing,
                             [](const Source&, std::string_view) -> Bytes { std::abort(); });
/// qsort asks how much memory the machine has.
const WorkerParser kSorting(load_nothing, [](const Source& seen, std::string_view) {
  Bytes all = first(seen, seen.size());
  std::qsort(all.data(), all.size(), 1,
             [](const void* a, const void* b) { return std::memcmp(a, b, 1); });
  return all;
});
const WorkerParser kOpening(load_nothing, [](const Source&, std::string_view) {
  const int file = ::open("/dev/null", O_RDONLY);
  return Bytes{static_cast<std::byte>(file >= 0 ? 0 : errno)};
});
const WorkerParser kGreedy(load_nothing, [](const Source&, std::string_view) -> Bytes {
  throw std::bad_alloc();
});
const WorkerParser kEndless(load_nothing, [](const Source&, std::string_view) -> Bytes {
  for (volatile bool more = true; more;) continue;
  return {};
});

TEST_CASE("what the worker read and returned comes back whole") {
  const tests::ArraySource file = source(300'000);
  CHECK(in_child(file, kAll, {}) == first(file, file.size()));
  CHECK(in_child(file, kNothing, {}).empty());
  CHECK(in_child(file, kArgument, "ab").size() == 2);
}

TEST_CASE("an error of the parser is an error here") {
  CHECK(message(source(8), kFailing) == "no good");
  CHECK(message(source(8), kBeyond) == "read beyond the end of the file");
  CHECK(message(source(8), kUnloaded) == "no such library (unable)");
}

TEST_CASE("a worker that dies is an error, and so is one without memory") {
  CHECK(message(source(8), kCrashing) ==
        "the process that parsed it ended: signal 11 (Segmentation fault)");
  CHECK(message(source(8), kAborting) == "the process that parsed it ended: signal 6 (Aborted)");
  CHECK(message(source(8), kGreedy) == "the process that parsed it ended: it ran out of memory");
}

TEST_CASE("a worker that runs in circles is ended by its CPU time") {
  CHECK(message(source(8), kEndless) ==
        "the process that parsed it ended: signal 24 (CPU time limit exceeded)");
}

TEST_CASE("a worker does without what it may not ask the system for") {
  const Bytes sorted = in_child(source(20'000), kSorting, {});
  REQUIRE(sorted.size() == 20'000);
  CHECK(std::ranges::is_sorted(sorted));
  const int opened = static_cast<int>(in_child(source(8), kOpening, {}).at(0));
  CHECK(opened == (is_sanitized() ? 0 : EPERM));
}

TEST_CASE("bytes that this process cannot read fail in the worker") {
  tests::ArraySource file = source(200'000);
  file.broken_from = 100'000, file.broken_to = 100'001;
  CHECK(message(file, kAll) == "broken sector");
}

TEST_CASE("several workers at once get each their own") {
  std::vector<Bytes> found(8);
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&found, i] { found[i] = in_child(source(70'000 + i), kAll, {}); });
  }
  threads.clear();
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i].size() == 70'000 + i);
}

}  // namespace
}  // namespace ttcheck::formats
