// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/json.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace ttcheck::formats {
namespace {

/// Offset and message of the error that this text gives.
std::pair<std::uint64_t, std::string> error_of(const std::string& text) {
  try {
    const JsonDocument document(text, "f.json", 100);
  } catch (const Error& error) {
    CHECK(error.where().file == "f.json");
    REQUIRE(error.where().offset.has_value());
    return {*error.where().offset, error.message()};
  }
  FAIL("no error");
  return {};
}

TEST_CASE("json: values, order, offsets") {
  const JsonDocument document(R"({"b": [1, -2, 0.5, null, true], "a": {"k": "\u00e9\n"}})", "f",
                              100);
  const auto range = document.root().members();
  const std::vector<JsonMember> members(range.begin(), range.end());
  REQUIRE(members.size() == 2);
  CHECK(members[0].first == "b");
  const auto values = members[0].second.items();
  const std::vector<Json> items(values.begin(), values.end());
  REQUIRE(items.size() == 5);
  CHECK(items[0].natural() == 1);
  CHECK(items[0].offset() == 107);
  CHECK(items[1].integer() == -2);
  CHECK(items[2].number() == 0.5);
  CHECK(items[3].is(Json::Kind::null));
  CHECK(items[4].boolean());
  CHECK(document.root().find("a")->find("k")->string() == "\xc3\xa9\n");
  CHECK_FALSE(document.root().find("c").has_value());
  CHECK_FALSE(items[0].find("x").has_value());
}

TEST_CASE("json: numbers are exact to 64 bits, and typed") {
  const JsonDocument document(
      "[18446744073709551615,-9223372036854775808,9007199254740993,-0,1e3,"
      "123456789012345678901234567890]",
      "f");
  const auto values = document.root().items();
  const std::vector<Json> items(values.begin(), values.end());
  CHECK(items[0].natural() == 18446744073709551615ULL);
  CHECK_THROWS_AS(static_cast<void>(items[0].integer()), Error);
  CHECK(items[1].integer() == std::numeric_limits<std::int64_t>::min());
  CHECK_THROWS_AS(static_cast<void>(items[1].natural()), Error);
  CHECK(items[2].integer() == 9007199254740993);
  CHECK_THROWS_AS(static_cast<void>(items[3].natural()), Error);
  CHECK_THROWS_AS(static_cast<void>(items[4].integer()), Error);
  CHECK(items[4].number() == 1000.0);
  CHECK(items[5].number() == 123456789012345678901234567890.0);
  CHECK_THROWS_WITH_AS(static_cast<void>(items[0].string()),
                       "f:0x1: a string was expected, found an integer", Error);
}

TEST_CASE("json: duplicate keys, with both places, in small and large objects") {
  const auto [offset, message] = error_of(R"({"a":1,"b":{"x":1,"x":2}})");
  CHECK(offset == 118);
  CHECK(message == "duplicate key 'x', first at 0x70");
  std::string many = "{";
  for (int i = 0; i < 50; ++i) many += fmt::format("\"k{}\":0,", i);
  CHECK(error_of(many + "\"k3\":1}").second.starts_with("duplicate key 'k3'"));
  CHECK(error_of(many + "\"k49\":1}").second.starts_with("duplicate key 'k49'"));
  const JsonDocument kept(R"({"a":1,"a":2})", "f", 0, Duplicates::keep);
  CHECK(kept.root().members().size() == 2);
  CHECK(kept.root().find("a")->natural() == 1);
}

TEST_CASE("json: text that is malformed, at its place") {
  CHECK(error_of("").second == "JSON text was expected, found nothing");
  CHECK(error_of("  \n").second == "JSON text was expected, found nothing");
  CHECK(error_of("3").second == "an object or array was expected");
  const auto [offset, message] = error_of("{\"ab\":\"\xc3\xa9\xff\"}");
  CHECK(offset == 109);
  CHECK(message == "bytes that are not UTF-8 in JSON text");
  CHECK(error_of("{} {}").second == "there is more after the end of the JSON text");
  CHECK(error_of(std::string(65, '[') + std::string(65, ']')).first == 164);
  for (const std::string text :
       {"{", "[1,", "{\"a\"}", "{\"a\":1,}", "[01]", "[1.]", "[nul]", "[tru]", "{1:2}", "[\"\\x\"]",
        "[\"\\ud800\"]", "[\"a", "[1 2]", "]", "[+1]", "[NaN]", "{\"a\":1 \"b\":2}", "[\"\n\"]"}) {
    CHECK_MESSAGE(error_of(text).second.starts_with("malformed JSON"), text);
  }
}

TEST_CASE("json: members one at a time, with duplicates, offsets and the fault after them") {
  std::vector<std::string> seen;
  const auto visit = [&](const JsonMember& member) {
    std::string text(member.first);
    for (const Json item : member.second.items()) text += fmt::format(" {}", item.natural());
    seen.push_back(fmt::format("{} at {}", text, member.second.offset()));
  };
  for_each_member(R"({"a": [1, 2], "b\u00e9": [], "a": [3]})", "f", 100, visit);
  CHECK(seen == std::vector<std::string>{"a 1 2 at 106", "b\xc3\xa9 at 125", "a 3 at 134"});

  seen.clear();
  CHECK_THROWS_AS(for_each_member(R"({"a": [1], "b": [2,]})", "f", 0, visit), Error);
  CHECK(seen == std::vector<std::string>{"a 1 at 6"});
  CHECK_THROWS_AS(for_each_member(R"({"a": [1]} 2)", "f", 0, visit), Error);
  CHECK_THROWS_AS(for_each_member("[1]", "f", 0, visit), Error);
  CHECK_THROWS_AS(for_each_member(" ", "f", 0, visit), Error);
}

}  // namespace
}  // namespace ttcheck::formats
