// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/pickle.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "formats/bytes/stream.hpp"
#include "formats/objects/known.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::little;
using tests::MemorySource;
namespace pickled = tests::pickled;
using namespace std::string_literals;

/// A pickle and what it lies in.
struct Read {
  explicit Read(const std::string& text)
      : source(std::make_unique<MemorySource>(tests::to_bytes(text), "p.pkl")) {
    Stream in(*source);
    pickle = read_pickle(in);
    left = in.remaining();
  }
  std::unique_ptr<MemorySource> source;
  Pickle pickle;
  std::uint64_t left = 0;
};

TEST_CASE("numbers of every opcode are read") {
  CHECK(Read("K\x07.").pickle.root().integer() == 7);
  CHECK(Read("M\x34\x12.").pickle.root().integer() == 0x1234);
  CHECK(Read("J\xff\xff\xff\xff.").pickle.root().integer() == -1);
  CHECK(Read("\x8a\x02\x00\x80."s).pickle.root().integer() == -32768);
  CHECK(Read("\x8a\x00."s).pickle.root().integer() == 0);
  CHECK(Read("I42\n.").pickle.root().integer() == 42);
  CHECK(Read("L-42L\n.").pickle.root().integer() == -42);
  CHECK(Read("I01\n.").pickle.root().boolean() == true);
  CHECK(Read("\x89.").pickle.root().boolean() == false);
  CHECK(Read("F0.5\n.").pickle.root().number() == 0.5);
  CHECK(Read("G\x3f\xf8\0\0\0\0\0\0."s).pickle.root().number() == 1.5);
  CHECK(Read("N.").pickle.root().is_none());
}

TEST_CASE(
    "a decimal beyond 64 bits ends the pickle, one too small for them is zero, as in Python") {
  const auto number = [](const std::string& text) {
    return Read("F" + text + "\n.").pickle.root().number();
  };
  const std::string zeros(1000, '0');
  for (const std::string& large :
       {"1e999"s, "-1e999"s, "1.7976931348623159e308"s, "1e+99999999999"s, "1" + zeros + "e-5",
        "0." + zeros + "1E2000"}) {
    CAPTURE(large);
    const Read read("F" + large + "\n.");
    REQUIRE(read.pickle.fault());
    CHECK(read.pickle.fault()->where().offset == 0);
    CHECK(std::string(read.pickle.fault()->what()).find("beyond those of 64 bits") !=
          std::string::npos);
  }
  for (const std::string& small :
       {"1e-999"s, "2e-324"s, "1e-99999999999"s, "0." + zeros + "1", "1" + zeros + "e-2000"}) {
    CAPTURE(small);
    REQUIRE(number(small) == 0.0);
    CHECK_FALSE(std::signbit(*number(small)));
    REQUIRE(number("-" + small) == 0.0);
    CHECK(std::signbit(*number("-" + small)));
  }
  CHECK(number("3e-324") == 4.9406564584124654e-324);
  CHECK(number("1.7976931348623158e308") == std::numeric_limits<double>::max());
  CHECK(number("-inf") == -std::numeric_limits<double>::infinity());
}

TEST_CASE("the empty tuple is one value, however often it is written") {
  const Read read("()))t.");
  REQUIRE(read.pickle.root().size() == 3);
  CHECK(read.pickle.root()[0].is(NodeKind::tuple));
  CHECK(read.pickle.root()[0].size() == 0);
  CHECK(read.pickle.root()[2].id() == read.pickle.root()[0].id());
  CHECK(read.pickle.node_count() == 2);
}

TEST_CASE("a short integer behind a text is no boolean") {
  const Read read(
      "(X\2\0\0\0"
      "01K\x01M\x01\0J\x01\0\0\0\x8a\x01\x01I1\nt."s);
  REQUIRE(read.pickle.root().size() == 6);
  for (std::size_t i = 1; i < 6; ++i) CHECK(read.pickle.root()[i].integer() == 1);
}

TEST_CASE("lists that grow by turns keep what each of them has") {
  std::string text = "(]q\x00]q\x01}q\x02"s;
  for (int i = 0; i < 100; ++i) {
    const char number = static_cast<char>(i);
    text += "h\x00K"s + number + "a0";
    text += "h\x01(K"s + number + "K" + number + "e0";
    text += "h\x02K"s + number + "K" + number + "s0";
  }
  const Read read(text + "t.");
  REQUIRE_FALSE(read.pickle.fault());
  const Value all = read.pickle.root();
  REQUIRE(all[0].size() == 100);
  REQUIRE(all[1].size() == 200);
  REQUIRE(all[2].size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    const auto number = static_cast<std::int64_t>(i);
    CHECK(all[0][i].integer() == number);
    CHECK(all[1][2 * i].integer() == number);
    CHECK(all[1][2 * i + 1].integer() == number);
    CHECK(all[2].value(i).integer() == number);
  }
}

TEST_CASE("integers beyond 64 bits keep their digits") {
  // 2**70 and -2**70
  CHECK(Read("\x8a\x09\0\0\0\0\0\0\0\0\x40."s).pickle.root().text() == "1180591620717411303424");
  CHECK(Read("\x8a\x09\0\0\0\0\0\0\0\0\xc0."s).pickle.root().text() == "-1180591620717411303424");
  CHECK(Read("L1180591620717411303424L\n.").pickle.root().text() == "1180591620717411303424");
}

TEST_CASE("text of every opcode is read") {
  CHECK(Read("S'a\\x41\\n\\''\n.").pickle.root().text() == "aA\n'");
  CHECK(Read("V\\u010d\xe9\n.").pickle.root().text() == "\xc4\x8d\xc3\xa9");
  CHECK(Read("U\x02hi.").pickle.root().text() == "hi");
  CHECK(Read("\x8c\x02hi.").pickle.root().text() == "hi");
  CHECK(Read("\x8d" + little(2, 8) + "hi.").pickle.root().text() == "hi");
  const Read bytes(
      "C\x03"
      "abc.");
  CHECK(bytes.pickle.root().bytes()->offset == 2);
  CHECK(byte_string(bytes.pickle.root(), 10) == "abc");
}

TEST_CASE("containers, memo and sharing") {
  const Read read("\x80\x02}q\0(X\1\0\0\0aq\1]q\2(K\1K\2eX\1\0\0\0bh\2u."s);
  const Value root = read.pickle.root();
  REQUIRE(root.is(NodeKind::dict));
  REQUIRE(root.size() == 2);
  CHECK(root.find("a").size() == 2);
  CHECK(root.find("a")[1].integer() == 2);
  CHECK(root.find("a").id() == root.find("b").id());
  CHECK(!root.find("c"));
  CHECK(read.pickle.protocol() == 2);
}

TEST_CASE("calls, state, items and entries of objects") {
  const Read read(pickled::whole(pickled::global("m", "C") + ")\x81" +
                                 pickled::dict({{"x", "K\5"}}) + "b" + "(K\1K\2e" +
                                 pickled::text("k") + "K\3s"));
  const Value root = read.pickle.root();
  REQUIRE(root.is(NodeKind::object));
  CHECK(root.how() == Construction::new_object);
  CHECK(class_of(root)->name == "C");
  CHECK(attributes(root).at(0).second.integer() == 5);
  CHECK(sequence(root)->at(1).integer() == 2);
  CHECK(mapping(root)->at(0).second.integer() == 3);
}

TEST_CASE("numpy arrays in both orders give the same canonical bytes") {
  const auto array = [](std::string order, std::string fortran, std::string bytes) {
    const std::string dtype =
        pickled::call("numpy", "dtype", {pickled::text("i2"), "\x89", "\x88"}) +
        pickled::tuple({"K\3", pickled::text(order)}) + "b";
    return pickled::whole(pickled::call("numpy.core.multiarray", "_reconstruct", {}) +
                          pickled::tuple({"K\1", pickled::numbers({2, 2}), dtype, fortran,
                                          "C" + little(bytes.size(), 1) + bytes}) +
                          "b");
  };
  const std::vector<std::byte> expected = tests::to_bytes("\1\0\2\0\3\0\4\0"s);
  for (const std::string& text :
       {array("<", "\x89", "\1\0\2\0\3\0\4\0"s), array(">", "\x89", "\0\1\0\2\0\3\0\4"s),
        array("<", "\x88", "\1\0\3\0\2\0\4\0"s)}) {
    const Read read(text);
    const auto found = numpy_array(read.pickle.root());
    REQUIRE(found);
    CHECK(canonical_bytes(*found, *read.source) == expected);
  }
}

TEST_CASE("elements of numpy arrays are known kinds and sizes, or refused") {
  const MemorySource none(tests::to_bytes(""), "p.pkl");
  const auto bytes_of = [&](std::string descr, std::string bytes) {
    NumpyArray array;
    array.descr = std::move(descr);
    array.shape = {1};
    array.decoded = std::move(bytes);
    return canonical_bytes(array, none);
  };
  CHECK(bytes_of(">c8", "abcdefgh") == tests::to_bytes("dcbahgfe"));
  CHECK(bytes_of(">f2", "ab") == tests::to_bytes("ba"));
  CHECK(bytes_of(">M8", "abcdefgh") == tests::to_bytes("hgfedcba"));
  CHECK(bytes_of(">U1", "abcd") == tests::to_bytes("dcba"));
  CHECK(bytes_of("|S3", "abc") == tests::to_bytes("abc"));
  for (const std::size_t size : {3U, 5U, 7U, 9U}) {
    for (const char* kind : {">c", ">f", ">i", ">u", "|b", ">m"}) {
      CHECK_THROWS_WITH_AS(bytes_of(kind + std::to_string(size), std::string(size, 'x')),
                           doctest::Contains("is no array of numbers"), Error);
    }
  }
  CHECK_THROWS_AS(bytes_of("|O8", std::string(8, 'x')), Error);
  NumpyArray deep;
  deep.descr = "|u1";
  deep.shape.assign(65, 1);
  deep.decoded = "x";
  CHECK_THROWS_WITH_AS(canonical_bytes(deep, none), doctest::Contains("64 at most"), Error);
}

TEST_CASE("bytes of protocol 2 are decoded from their text") {
  const Read read(pickled::whole(pickled::call(
      "_codecs", "encode", {pickled::text("a\xc3\xbf\xc2\x80"), pickled::text("latin1")})));
  CHECK(byte_string(read.pickle.root(), 10) == "a\xff\x80");
}

}  // namespace
}  // namespace ttcheck::formats
