// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/hdf5.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "formats/bytes/hdf5/plan_bytes.hpp"
#include "formats/bytes/hdf5/worker/walk.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/project_file.hpp"
#include "tests/support/safetensors_text.hpp"

namespace ttcheck::formats {
namespace {

using tests::MemorySource;
using tests::project_bytes;

const Hdf5Dataset& dataset(const Hdf5Contents& contents, std::string_view path) {
  const auto found = std::ranges::find(contents.datasets, path, &Hdf5Dataset::path);
  REQUIRE(found != contents.datasets.end());
  return *found;
}

template <class T>
std::vector<T> read_as(const Hdf5Dataset& set) {
  REQUIRE_MESSAGE(set.source != nullptr, set.problem);
  std::vector<T> out(static_cast<std::size_t>(element_count(set.shape)));
  set.source->read(set.offset, std::as_writable_bytes(std::span(out)));
  return out;
}

/// Element i is i / 2 - 3, as tests/hdf5/make.py writes it.
template <class T>
void check_halves(const Hdf5Contents& contents, std::string_view path, const Shape& shape) {
  CAPTURE(path);
  const Hdf5Dataset& set = dataset(contents, path);
  CHECK(set.shape == shape);
  const std::vector<T> got = read_as<T>(set);
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == T(static_cast<double>(i) / 2 - 3));
}

template <class T>
void check_counts(const Hdf5Contents& contents, std::string_view path, DType dtype) {
  CAPTURE(path);
  CHECK(dataset(contents, path).dtype == dtype);
  const std::vector<T> got = read_as<T>(dataset(contents, path));
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == T(i));
}

/// The bytes of a dataset that is no tensor.
std::string text_of(const Hdf5Contents& contents, std::string_view path) {
  std::string text;
  for (const std::uint8_t byte : read_as<std::uint8_t>(dataset(contents, path))) {
    text += static_cast<char>(byte);
  }
  return text;
}

/// An element of any length, as such datasets are told.
std::string behind_size(std::string_view element) {
  return tests::u64_le(element.size()) + std::string(element);
}

TEST_CASE("every way of storing an array gives its values, in both file formats") {
  for (const char* name : {"tests/data/hdf5/earliest.h5", "tests/data/hdf5/latest.h5"}) {
    CAPTURE(name);
    const MemorySource file(project_bytes(name));
    const Hdf5Contents contents = read_hdf5(file, "ttcheck");
    CHECK(contents.findings.empty());
    check_halves<float>(contents, "storage/contiguous", {3, 5});
    check_halves<float>(contents, "storage/scalar", {});
    check_halves<float>(contents, "storage/empty", {0, 4});
    check_halves<float>(contents, "storage/chunked", {7, 10});
    check_halves<float>(contents, "storage/growing", {7, 10});
    check_halves<float>(contents, "storage/rows", {9, 4});
    check_halves<float>(contents, "storage/gzip", {7, 10});
    check_halves<double>(contents, "storage/shuffle", {7, 10});
    check_halves<float>(contents, "storage/one", {4, 4});
    check_halves<float>(contents, "storage/compact", {2, 3});
    check_counts<std::int16_t>(contents, "storage/fletcher32", DType::i16);
    const std::vector<float> never = read_as<float>(dataset(contents, "storage/never"));
    CHECK(never == std::vector<float>(12, -2.0F));
    const std::vector<float> holes = read_as<float>(dataset(contents, "storage/holes"));
    for (std::size_t i = 0; i < holes.size(); ++i) {
      const bool written = i / 6 >= 2 && i / 6 < 4 && i % 6 >= 3;
      CHECK(holes[i] == (written ? 1.0F : 7.0F));
    }
    CHECK(dataset(contents, "storage/lzf").problem == "unsupported HDF5 filter 32000");
  }
}

TEST_CASE("filtered chunks can be read in any range") {
  const MemorySource file(project_bytes("tests/data/hdf5/latest.h5"));
  Hdf5Contents contents = read_hdf5(file, "other");
  const Hdf5Dataset& all = dataset(contents, "storage/all");
  check_halves<float>(contents, "storage/all", {5, 6, 7});
  CHECK(all.source->size() == 840);
  for (std::uint64_t from : {0U, 1U, 27U, 28U, 111U, 500U, 839U}) {
    for (std::uint64_t count : {1U, 3U, 29U, 200U}) {
      if (from + count > 840) continue;
      std::vector<std::byte> got(static_cast<std::size_t>(count));
      all.source->read(from, got);
      for (std::uint64_t i = 0; i < count; ++i) {
        const float value = static_cast<float>((from + i) / 4) / 2 - 3;
        std::array<std::byte, 4> bytes{};
        std::memcpy(bytes.data(), &value, 4);
        CHECK(got[static_cast<std::size_t>(i)] == bytes[(from + i) % 4]);
      }
    }
  }
  std::byte one{};
  CHECK_THROWS_AS(all.source->read(840, {&one, 1}), Error);
}

TEST_CASE("element types are told by their fields") {
  const MemorySource file(project_bytes("tests/data/hdf5/earliest.h5"));
  const Hdf5Contents contents = read_hdf5(file, "ttcheck");
  check_counts<std::uint8_t>(contents, "types/u1", DType::u8);
  check_counts<std::int8_t>(contents, "types/i1", DType::i8);
  check_counts<std::uint16_t>(contents, "types/u2", DType::u16);
  check_counts<std::int16_t>(contents, "types/i2", DType::i16);
  check_counts<std::uint32_t>(contents, "types/u4", DType::u32);
  check_counts<std::int32_t>(contents, "types/i4", DType::i32);
  check_counts<std::uint64_t>(contents, "types/u8", DType::u64);
  check_counts<std::int64_t>(contents, "types/i8", DType::i64);
  CHECK(dataset(contents, "types/f2").dtype == DType::f16);
  CHECK(dataset(contents, "types/f4").dtype == DType::f32);
  CHECK(dataset(contents, "types/f8").dtype == DType::f64);
  CHECK(dataset(contents, "types/c8").dtype == DType::c64);
  CHECK(dataset(contents, "types/c16").dtype == DType::c128);
  CHECK(dataset(contents, "types/bool").dtype == DType::boolean);
  CHECK(dataset(contents, "types/big_f4").order == ByteOrder::big);
  CHECK(text_of(contents, "types/text") == behind_size("words"));
}

TEST_CASE("floats whose mantissa is stored otherwise are no IEEE floats") {
  std::vector<std::byte> bytes = project_bytes("tests/data/hdf5/earliest.h5");
  constexpr auto kFloat = std::to_array<std::uint8_t>({0x11, 0x20, 0x1f, 0, 4});
  const auto as_byte = [](std::byte held, std::uint8_t byte) { return held == std::byte{byte}; };
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), kFloat.begin(), kFloat.end(), as_byte);
    if (at == bytes.end()) break;
    *++at = std::byte{0};  // its leading bit is stored, too
  }
  const Hdf5Contents contents = read_hdf5(MemorySource(bytes), "ttcheck");
  CHECK(dataset(contents, "types/f4").dtype != DType::f32);
  CHECK(dataset(contents, "types/f8").dtype == DType::f64);
}

TEST_CASE("text attributes of fixed and variable length are read") {
  const MemorySource file(project_bytes("tests/data/hdf5/latest.h5"));
  const Hdf5Contents contents = read_hdf5(file, "ttcheck");
  CHECK(dataset(contents, "storage/contiguous").text == R"({"fixed":1})");
  CHECK(dataset(contents, "storage/gzip").text == R"({"variable":1})");
  CHECK(!dataset(contents, "storage/chunked").text);
  CHECK(dataset(contents, "storage/all").problem == "attribute ttcheck is no single string");
}

TEST_CASE("H504: cycles of links are walked once and dead links are noted") {
  const MemorySource file(project_bytes("tests/data/hdf5/links.h5"));
  const Hdf5Contents contents = read_hdf5(file, "ttcheck");
  std::vector<std::string> paths;
  for (const Hdf5Dataset& set : contents.datasets) paths.push_back(set.path);
  CHECK(paths ==
        std::vector<std::string>{"a/same", "a/soft", "a/weight", "b/again", "b/chunked", "b/soft"});
  check_halves<float>(contents, "a/soft", {2, 2});
  for (const char* name : {"b/again", "b/chunked", "b/soft"}) {
    check_halves<float>(contents, name, {7, 10});
    CHECK(dataset(contents, name).source == dataset(contents, "b/again").source);
  }
  std::vector<std::string> noted;
  for (const Finding& finding : contents.findings) noted.push_back(finding.where->object);
  CHECK(noted ==
        std::vector<std::string>{"a/dangling", "a/outside", "a/ring", "a/root", "a/self", "a/up"});
}

TEST_CASE("what lies behind the end that a file states is not in it, though its bytes are there") {
  constexpr std::size_t kEnd = 40;  // of the earliest superblock, eight bytes
  std::vector<std::byte> bytes = project_bytes("samples/small/state.h5");
  CHECK(static_cast<std::size_t>(std::to_integer<int>(bytes[kEnd]) |
                                 std::to_integer<int>(bytes[kEnd + 1]) << 8) == bytes.size());
  bytes[kEnd] = std::byte{0};
  const Hdf5Contents contents = read_hdf5(MemorySource(bytes), {});
  const bool told = std::ranges::any_of(contents.datasets, [](const Hdf5Dataset& set) {
    return set.problem.find("lies beyond the end of the file at 2048") != std::string::npos ||
           set.problem.ends_with(
               "invalid dataset size, likely file corruption");  // HDF5 1.14 looks
  });
  CHECK(told);
}

/// Groups within one another, each named "g", the root in the last: the structures of the earliest
/// file format, of the least size.
std::vector<std::byte> nested_groups(std::size_t levels) {
  constexpr std::uint64_t kUndefined = UINT64_MAX, kSuperblock = 96;
  constexpr std::uint64_t kHeader = 40, kTree = 64, kHeap = 48, kSymbols = 88;
  constexpr std::uint64_t kGroup = kHeader + kTree + kHeap + kSymbols;
  std::string out;
  const auto number = [&](std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
  };
  const auto entry = [&](std::uint64_t name, std::uint64_t header) {
    number(name, 8);
    number(header, 8);
    out.append(24, '\0');
  };
  out.append("\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0", 16);
  number(1, 2);  // names of a node: twice as many
  number(1, 2);  // children of a node, too
  number(0, 4);
  for (const std::uint64_t at : {std::uint64_t{0}, kUndefined, kSuperblock + levels * kGroup})
    number(at, 8);
  number(kUndefined, 8);
  entry(0, kSuperblock);
  for (std::size_t i = 0; i < levels; ++i) {
    const std::uint64_t tree = out.size() + kHeader, heap = tree + kTree, symbols = heap + kHeap;
    out.append("\1\0\1\0\1\0\0\0\x18\0\0\0\0\0\0\0", 16);
    out.append("\x11\0\x10\0\0\0\0\0", 8);  // a symbol table
    number(tree, 8);
    number(heap, 8);
    out.append("TREE\0\0\1\0", 8);
    for (const std::uint64_t at : {kUndefined, kUndefined, std::uint64_t{0}, symbols})
      number(at, 8);
    number(8, 8);
    out.append(16, '\0');
    out.append("HEAP\0\0\0\0", 8);
    for (const std::uint64_t at : {std::uint64_t{16}, std::uint64_t{1}, heap + 32}) number(at, 8);
    out.append("\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0", 16);
    out.append("SNOD\1\0\1\0", 8);
    entry(8, i + 1 < levels ? symbols + kSymbols : kSuperblock);
    entry(0, 0);
  }
  const auto bytes = std::as_bytes(std::span(out));
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("the time that groups within groups take grows as their number does") {
  constexpr std::size_t kLevels = 8000;
  const Hdf5Contents contents = read_hdf5(MemorySource(nested_groups(kLevels)), {});
  CHECK(contents.datasets.empty());
  REQUIRE(contents.findings.size() == 1);
  CHECK(contents.findings[0].message == "link to a group that is listed elsewhere");
  CHECK(contents.findings[0].where->object.size() == 2 * kLevels - 1);
}

TEST_CASE("H505: external links, external storage and virtual datasets are named, not opened") {
  const MemorySource links(project_bytes("tests/data/hdf5/links.h5"));
  const Hdf5Contents linked = read_hdf5(links, "ttcheck");
  const auto link = std::ranges::find_if(
      linked.findings, [](const Finding& finding) { return finding.where->object == "a/outside"; });
  REQUIRE(link != linked.findings.end());
  CHECK(link->message ==
        fmt::format("link to /x in another file, /etc/passwd, not followed; {}", kNeverFollowed));
  const MemorySource outside(project_bytes("tests/data/hdf5/outside.h5"));
  const Hdf5Contents contents = read_hdf5(outside, "ttcheck");
  CHECK(dataset(contents, "external").source == nullptr);
  CHECK(dataset(contents, "external").problem ==
        "data in an external file, not opened: /etc/passwd");
  CHECK(dataset(contents, "virtual").problem ==
        fmt::format("virtual dataset, not followed: /etc/hostname; {}", kNeverFollowed));
  check_halves<float>(contents, "weight", {2, 2});
}

TEST_CASE("H501, H513: cut at any offset, a file is refused with its name") {
  const std::vector<std::byte> whole = project_bytes("tests/data/hdf5/links.h5");
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    const MemorySource file({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    std::string named;
    try {
      static_cast<void>(read_hdf5(file, "ttcheck"));
    } catch (const Error& error) {
      named = error.where().file;
    }
    CHECK(named == "memory");
  }
}

TEST_CASE("H502, H503, H506, H507, H511: any byte of the structure may be wrong") {
  for (const char* name : {"tests/data/hdf5/links.h5", "tests/data/hdf5/earliest.h5"}) {
    const std::vector<std::byte> whole = project_bytes(name);
    for (std::size_t at = 0; at < whole.size(); at += whole.size() / 60) {
      std::vector<std::byte> bytes = whole;
      bytes[at] = ~bytes[at];
      const MemorySource file(std::move(bytes));
      try {
        for (const Hdf5Dataset& set : read_hdf5(file, "ttcheck").datasets) {
          CHECK((set.source == nullptr) == !set.problem.empty());
        }
      } catch (const Error& error) {
        CHECK(error.where().file == "memory");
      }
    }
  }
}

TEST_CASE("H509, H510: elements that are no numbers are bytes, references are refused") {
  const MemorySource file(project_bytes("tests/data/hdf5/odd.h5"));
  const Hdf5Contents contents = read_hdf5(file, {});
  for (const char* type : {"compound", "deep", "opaque"}) {  // as the bytes that they are
    CAPTURE(type);
    const Hdf5Dataset& set = dataset(contents, std::string("types/") + type);
    CHECK(set.problem.empty());
    CHECK(set.dtype == DType::u8);
    CHECK(set.shape.size() == 2);
  }
  using namespace std::string_view_literals;
  CHECK(text_of(contents, "types/words") == behind_size("one") + behind_size("two"));
  CHECK(text_of(contents, "types/ragged") ==  // [1, 2] and [3] in f32
        behind_size("\0\0\x80\x3f\0\0\0\x40"sv) + behind_size("\0\0\x40\x40"sv));
  const Hdf5Dataset& reference = dataset(contents, "types/reference");
  CHECK(reference.source == nullptr);
  CHECK(reference.problem == kNoTensorType);
  CHECK(reference.unsupported);
  CHECK(dataset(contents, "types/enum").dtype == DType::i16);
}

TEST_CASE("H509: an enum that is larger than the integers it names is bytes") {
  std::vector<std::byte> bytes = project_bytes("tests/data/hdf5/odd.h5");
  const std::string_view type("\x18\x02\0\0\x02\0\0\0\x10\x08\0\0\x02",
                              13);  // of 2 bytes, as they are
  const auto text = std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::size_t at = text.find(type);
  REQUIRE(at != std::string_view::npos);
  bytes[at + 5] = std::byte{1};  // 258
  const MemorySource file(std::move(bytes));
  try {
    const Hdf5Contents contents = read_hdf5(file, {});
    const Hdf5Dataset& set = dataset(contents, "types/enum");
    CHECK(set.dtype == DType::u8);
    CHECK(set.shape.back() == 258);
  } catch (const Error& error) {  // the library reads beyond its own memory, and may end by it
    CHECK(error.where().file == "memory");
  }
}

TEST_CASE("H512: a header whose checksum is wrong costs its dataset, not the file") {
  std::vector<std::byte> bytes = project_bytes("tests/data/hdf5/outside.h5");
  const Hdf5Contents whole = read_hdf5(MemorySource(bytes), {});
  REQUIRE(dataset(whole, "weight").problem.empty());
  const std::string_view header = "OHDR";
  int damaged = 0;
  for (std::size_t at = 0; at + header.size() < bytes.size(); ++at) {
    if (std::memcmp(bytes.data() + at, header.data(), header.size()) != 0) continue;
    std::vector<std::byte> one = bytes;
    one[at + 8] ^= std::byte{1};
    ++damaged;
    const Hdf5Contents seen = read_hdf5(MemorySource(std::move(one)), {});
    CHECK(seen.datasets.size() == (damaged == 1 ? 0 : whole.datasets.size() - 1));
    REQUIRE_FALSE(seen.findings.empty());
    CHECK(seen.findings[0].severity == Severity::error);
    CHECK(
        seen.findings[0].message.ends_with("incorrect metadata checksum after all read attempts"));
  }
  CHECK(damaged == 4);  // of the root group and of each dataset
}

TEST_CASE("H514: a superblock behind a user block is found, one that is a fake is refused") {
  std::vector<std::byte> bytes = project_bytes("tests/data/hdf5/user-block.h5");
  const MemorySource file(bytes);
  const Hdf5Contents contents = read_hdf5(file, {});
  check_halves<float>(contents, "weight", {3, 5});
  check_halves<float>(contents, "gzip", {7, 10});
  std::memcpy(bytes.data(), "\x89HDF\r\n\x1a\n", 8);
  CHECK_THROWS_AS(static_cast<void>(read_hdf5(MemorySource(bytes), {})), Error);
}

TEST_CASE("H516: names are kept as they are, however odd or long") {
  const MemorySource file(project_bytes("tests/data/hdf5/odd.h5"));
  const Hdf5Contents contents = read_hdf5(file, {});
  for (const std::string& name : {std::string("\x1b[31mred"), std::string("two\nlines"),
                                  std::string(5000, 'n'), std::string("a.b")}) {
    check_halves<float>(contents, "names/" + name, {2, 2});
  }
}

TEST_CASE("H515: the definition of a Keras model is read, as text") {
  const MemorySource keras(project_bytes("tests/data/hdf5/keras.h5"));
  const Hdf5Contents contents = read_hdf5(keras, {});
  REQUIRE(contents.definition);
  CHECK(contents.definition->starts_with("{\"class_name\": \"Sequential\""));
  check_halves<float>(contents, "model_weights/dense/dense/kernel:0", {2, 2});
  const MemorySource other(project_bytes("tests/data/hdf5/odd.h5"));
  CHECK_FALSE(read_hdf5(other, {}).definition);
}

/// Where the bytes of `text` stand in the file.
std::vector<std::size_t> places_of(std::span<const std::byte> bytes, std::string_view text) {
  std::vector<std::size_t> places;
  const auto word = std::as_bytes(std::span(text));
  for (auto at = bytes.begin();; ++at) {
    at = std::search(at, bytes.end(), word.begin(), word.end());
    if (at == bytes.end()) return places;
    places.push_back(static_cast<std::size_t>(at - bytes.begin()));
  }
}

TEST_CASE("H517: what is recorded of free space is not read, so damage to it is none") {
  const std::vector<std::byte> bytes = project_bytes("tests/data/hdf5/freed.h5");
  std::vector<std::size_t> managers = places_of(bytes, "FSHD");
  for (const std::size_t at : places_of(bytes, "FSSE")) managers.push_back(at);
  REQUIRE(managers.size() >= 2);
  for (const std::size_t at : managers) {
    std::vector<std::byte> spoilt = bytes;
    for (std::size_t i = at; i < std::min(at + 40, bytes.size()); ++i) spoilt[i] ^= std::byte{0xff};
    const MemorySource file(std::move(spoilt));
    const Hdf5Contents contents = read_hdf5(file, {});
    CHECK(contents.findings.empty());
    check_halves<float>(contents, "weight", {3, 5});
  }
}

TEST_CASE("a signature is looked for where the format allows one") {
  std::vector<std::byte> head(2048);
  CHECK(!looks_like_hdf5(head));
  const char signature[] = "\x89HDF\r\n\x1a\n";
  std::memcpy(head.data() + 100, signature, 8);
  CHECK(!looks_like_hdf5(head));
  std::memcpy(head.data() + 1024, signature, 8);
  CHECK(looks_like_hdf5(head));
  CHECK(!looks_like_hdf5({}));
}

}  // namespace
}  // namespace ttcheck::formats
