// SPDX-License-Identifier: Apache-2.0
#include "core/model/expression.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/caret.hpp"
#include "tests/support/error_of.hpp"

namespace ttcheck {
namespace {

/// a is 7, n_2 is -3, Z9 is 100, AZaz_09 is 5; f has its arguments as decimal digits, g is their
/// number.
const Names& some_names() {
  static const Names names{
      .value = [](std::string_view name) -> std::int64_t {
        if (name == "a") return 7;
        if (name == "n_2") return -3;
        if (name == "Z9") return 100;
        if (name == "AZaz_09") return 5;
        throw Error("no value " + std::string(name));
      },
      .call = [](std::string_view name, std::span<const std::int64_t> arguments) -> std::int64_t {
        if (name == "g") return std::ssize(arguments);
        if (name != "f") throw Error("no function " + std::string(name));
        std::int64_t digits = 0;
        for (const std::int64_t one : arguments) digits = digits * 10 + one;
        return digits;
      }};
  return names;
}

TEST_CASE("expressions have the usual order, from left to right, and round toward zero") {
  for (const auto& [text, value] : std::vector<std::pair<std::string, std::int64_t>>{
           {"1", 1},
           {" \t1\t ", 1},
           {"007", 7},
           {"1+2*3", 7},
           {"2*3+1", 7},
           {"(1+2)*3", 9},
           {"3*(1+2)", 9},
           {"10-3-2", 5},
           {"10-(3-2)", 9},
           {"1-2+3", 2},
           {"1+2-3", 0},
           {"100/10/2", 5},
           {"100/(10/2)", 20},
           {"8/2*4", 16},
           {"6/4*2", 2},
           {"2*6/4", 3},
           {"9-2*3-1", 2},
           {"7/2", 3},
           {"-7/2", -3},
           {"7/-2", -3},
           {"-7/-2", 3},
           {"0/5", 0},
           {"-3", -3},
           {"--3", 3},
           {"- - 3", 3},
           {"2--3", 5},
           {"2*-3", -6},
           {"-2*3", -6},
           {"-2-3", -5},
           {"-(2+3)*2", -10},
           {"5/-1", -5},
           {"((((4))))", 4},
           {"(2)*(3)", 6},
           {"a", 7},
           {"-a", -7},
           {"a+n_2*Z9", -293},
           {"AZaz_09*2", 10},
           {"f(1)", 1},
           {"f(1,2,3)", 123},
           {" f( 1 , 2 ) ", 12},
           {"f(1+1, 2*2)", 24},
           {"f((1),(2))", 12},
           {"f(-1+2,3)", 13},
           {"f(f(1,2),3)", 123},
           {"f(3,f(1,2))", 42},
           {"g(5,5)+g(5)", 3},
           {"2*f(1,2)+3", 27},
           {"1+f(2)*3", 7},
           {"-f(4)", -4},
           {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
           {"-9223372036854775807-1", std::numeric_limits<std::int64_t>::min()},
           {"(-9223372036854775807-1)/1", std::numeric_limits<std::int64_t>::min()},
           {"(-9223372036854775807-1)/2", -(std::int64_t{1} << 62)},
           {"9223372036854775807/-1", -std::numeric_limits<std::int64_t>::max()}}) {
    INFO(text);
    CHECK(evaluate(text, some_names()) == value);
  }
}

TEST_CASE("bad syntax is shown at its place") {
  struct Row {
    std::string text, said;
    std::size_t at;
  };
  const std::string value = "expected a number, a name or (";
  const std::string operation = "expected + - * / or )";
  for (const Row& row : std::vector<Row>{{"", value, 0},
                                         {"   ", value, 3},
                                         {"1+", value, 2},
                                         {"1+ ", value, 3},
                                         {"-", value, 1},
                                         {"+1", value, 0},
                                         {"1+*2", value, 2},
                                         {"1 / / 2", value, 4},
                                         {"(", value, 1},
                                         {"()", value, 1},
                                         {"f()", value, 2},
                                         {"f(1,)", value, 4},
                                         {"f(,1)", value, 2},
                                         {"f(1,", value, 4},
                                         {".5", value, 0},
                                         {"\xc3\xa9", value, 0},
                                         {"1 2", operation, 2},
                                         {"a b", operation, 2},
                                         {"a (1)", operation, 2},
                                         {"2(3)", operation, 1},
                                         {"1.5", operation, 1},
                                         {"3 % 2", operation, 2},
                                         {"2**3", value, 2},
                                         {"(1)(2)", operation, 3},
                                         {"1\n", operation, 1},
                                         {"(1", "the parenthesis is not closed", 0},
                                         {"2*(1+2", "the parenthesis is not closed", 2},
                                         {"((1)", "the parenthesis is not closed", 0},
                                         {"f(1", "the parenthesis is not closed", 1},
                                         {"1)", ") without (", 1},
                                         {"(1))", ") without (", 3},
                                         {"1+2)", ") without (", 3},
                                         {"1,2", ", without (", 1},
                                         {"1+2,3", ", without (", 3},
                                         {"(1,2)", "a comma outside of a call", 2},
                                         {"f((1,2))", "a comma outside of a call", 4},
                                         {"1x", "bad number", 0},
                                         {"2+0x10", "bad number", 2},
                                         {"9223372036854775808", "bad number", 0},
                                         {"1+99999999999999999999", "bad number", 2},
                                         {"7/(3-3)", "division by zero", 1},
                                         {"1 + 7/0*2", "division by zero", 5}}) {
    INFO(row.text);
    std::string said;
    std::size_t at = 999;
    try {
      (void)evaluate(row.text, some_names());
    } catch (const LineError& error) {
      said = error.said();
      at = error.at();
      CHECK(error.what() == std::string(caret_error(row.said, row.text, row.at).what()));
    }
    CHECK(said == row.said);
    CHECK(at == row.at);
  }
}

TEST_CASE("overflow is refused, and what the names refuse is passed on") {
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"9223372036854775807+1", "sum overflows"},
           {"-9223372036854775807-2", "difference overflows"},
           {"9223372036854775807*2", "product overflows"},
           {"(-9223372036854775807-1)/-1", "difference overflows"},
           {"-(-9223372036854775807-1)", "difference overflows"},
           {"1+b", "no value b"},
           {"f(1)+h(2)", "no function h"},
           {"a2", "no value a2"},
           {"f", "no value f"},
           {"a(1)", "no function a"}}) {
    INFO(text);
    CHECK(tests::error_of([&] { (void)evaluate(text, some_names()); }) == said);
  }
}

TEST_CASE("depth takes memory, not the stack") {
  const std::size_t deep = 200000;
  CHECK(evaluate(std::string(deep, '(') + "1" + std::string(deep, ')'), some_names()) == 1);
  CHECK(evaluate(std::string(deep + 1, '-') + "1", some_names()) == -1);
  std::string sum = "0";
  for (int i = 0; i < 1000; ++i) sum += "+(" + std::to_string(i) + "*1";
  CHECK(evaluate(sum + std::string(1000, ')'), some_names()) == 499500);
}

}  // namespace
}  // namespace ttcheck
