// SPDX-License-Identifier: Apache-2.0
#include "core/base/glob.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/error.hpp"

namespace ttcheck {
namespace {

TEST_CASE("a glob and a name that would take too much memory together are refused") {
  std::string pattern;
  for (int i = 0; i < 40; ++i) pattern += "*a";
  CHECK_THROWS_AS((void)Glob(pattern + "b").matches(std::string(100000, 'a')), Error);
  CHECK(Glob("**").matches(std::string(100000, 'a')));
}

TEST_CASE("a star stays within a part, two cross parts") {
  CHECK(Glob("a.*.c").matches("a.b.c"));
  CHECK_FALSE(Glob("a.*.c").matches("a.b.b.c"));
  CHECK(Glob("a.**.c").matches("a.b.b.c"));
  CHECK(Glob("a.**").matches("a.b.c"));
  CHECK_FALSE(Glob("a.**").matches("ab"));
  CHECK(Glob("*").matches("weight"));
  CHECK_FALSE(Glob("*").matches("a.weight"));
  CHECK(Glob("**").matches(""));
  CHECK(Glob("tp_*/x", '/').matches("tp_a.b/x"));
  CHECK_FALSE(Glob("tp_*", '/').matches("tp_a/x"));
}

TEST_CASE("two stars may match nothing, with their separator") {
  CHECK(Glob("**.weight").matches("weight"));
  CHECK(Glob("**.weight").matches("a.b.weight"));
  CHECK_FALSE(Glob("**.weight").matches("overweight"));
  CHECK(Glob("a.**.b").matches("a.b"));
  CHECK_FALSE(Glob("a.**.b").matches("a.xb"));
  CHECK(Glob("a**b").matches("ab"));
  CHECK_FALSE(Glob("**.a").matches("b"));
}

TEST_CASE("alternatives hold literals, wildcards and braces") {
  const Glob norms("**.{input_layernorm,router,x*}.*");
  CHECK(norms.matches("decoder.layers.0.input_layernorm.weight"));
  CHECK(norms.matches("xyz.bias"));
  CHECK_FALSE(norms.matches("layernorm.weight"));
  CHECK(Glob("a{,b}c").matches("ac"));
  CHECK(Glob("a{,b}c").matches("abc"));
  CHECK(Glob("{a,{b,c}d}e").matches("cde"));
  CHECK_FALSE(Glob("{a,{b,c}d}e").matches("ce"));
  CHECK(Glob("{a,b}{c,d}").matches("bd"));
}

TEST_CASE("captures and wildcards say what they took") {
  const auto match = Glob("**.layers.{l}.mlp.experts.{e}.*").match("m.d.layers.12.mlp.experts.3.w");
  REQUIRE(match);
  CHECK(match->captures.at("l") == 12);
  CHECK(match->captures.at("e") == 3);
  CHECK(match->wildcards == std::vector<std::string>{"m.d", "w"});
  CHECK_FALSE(Glob("layers.{l}").matches("layers.x"));
  CHECK_FALSE(Glob("layers.{l}").matches("layers."));
  CHECK(Glob("{a}{b}").match("123")->captures.at("a") == 12);
  CHECK(Glob("**.a.**").match("a.b.c")->wildcards == std::vector<std::string>{"", "b.c"});
}

TEST_CASE("a backslash takes the next character literally") {
  CHECK(Glob("a\\*b").matches("a*b"));
  CHECK_FALSE(Glob("a\\*b").matches("axb"));
  CHECK(Glob("\\{x\\}").matches("{x}"));
  CHECK(Glob("{a\\,b,c}").matches("a,b"));
}

TEST_CASE("bad patterns say the column") {
  const auto message = [](const char* pattern) -> std::string {
    try {
      Glob glob(pattern);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  };
  CHECK(message("ab{c") == "glob ab{c: the brace is not closed, column 3");
  CHECK(message("{a,b") == "glob {a,b: the brace is not closed, column 1");
  CHECK(message("a\\") == "glob a\\: nothing follows the backslash, column 2");
  CHECK(message("a.{}") == "glob a.{}: expected {name} or {a,b}, column 3");
  CHECK(message("{l}.{l}") == "glob {l}.{l}: the capture is there twice, column 5");
}

TEST_CASE("matching stays linear where backtracking would not") {
  std::string pattern;
  for (int i = 0; i < 60; ++i) pattern += "*a**";
  CHECK_FALSE(Glob(pattern + "b").matches(std::string(2000, 'a')));
}

TEST_CASE("a number that does not fit is no capture") {
  CHECK_FALSE(Glob("{n}").matches("99999999999999999999999999"));
}

TEST_CASE("a million steps are taken, and not many more") {
  // For each place in the name one with the wildcard, and one behind it; 1,048,576 in all.
  CHECK(Glob("**").matches(std::string(524'000, 'a')));
  CHECK_THROWS_AS((void)Glob("**").matches(std::string(525'000, 'a')), Error);
}

}  // namespace
}  // namespace ttcheck
