// SPDX-License-Identifier: Apache-2.0
#include "core/model/placement.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/error.hpp"

namespace ttcheck {
namespace {

std::string message(const std::string& line) {
  try {
    parse_dims(line);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("lines in their shortest spelling parse to themselves") {
  for (const char* line : {"",
                           "*",
                           "b s h",
                           "x[tp] y",
                           "b s[cp:zigzag] h[tp]",
                           "v[tp:pad=vocab] h",
                           "(gate|up)[tp] h",
                           "(q:16|k:8|v:n)[tp] i",
                           "heads*hd[tp] h",
                           "x[tp,dp]",
                           "x[tp:sizes=7/4/0] y",
                           "x[dp:stride=2]",
                           "x[tp:interleave=3]",
                           "x[tp:even+pad=4]",
                           "x[tp:partial=max] y",
                           "flat[dp]",
                           "flat[dp:align=64] of x[tp] y",
                           "flat[dp,cp:sizes=1/2]",
                           "# dp:partial",
                           "x # tp:replicated dp:partial=avg dp:=group rep=any",
                           "* h[tp]",
                           "1 h"}) {
    CAPTURE(line);
    CHECK(to_string(parse_dims(line)) == line);
    CHECK(parse_dims(to_string(parse_dims(line))) == parse_dims(line));
  }
}

TEST_CASE("other spellings of the same") {
  CHECK(parse_dims("b  s(cp,zigzag) h(tp)") == parse_dims("b s[cp:zigzag] h[tp]"));
  CHECK(parse_dims("x # cp:sharded") == parse_dims("x"));
  CHECK(parse_dims("s(cp,even,zigzag)") == parse_dims("s[cp:even+zigzag]"));
  CHECK(parse_dims("s[cp,zigzag]").dims[0].shards[1].axis == "zigzag");  // in brackets an axis
  CHECK(parse_dims("s(zigzag)").dims[0].shards[0].axis == "zigzag");     // and so is the first
  CHECK(parse_dims("h(tp:partial)") == parse_dims("h[tp:partial=sum]"));
  CHECK(parse_dims("(nh*d)[tp]") == parse_dims("nh*d[tp]"));
  CHECK(parse_dims("s[cp:natural] h[tp:sharded]") == parse_dims("s[cp] h[tp]"));
  CHECK(parse_dims("h(tp,dp)") == parse_dims("h[tp,dp]"));
  CHECK(parse_dims("flat(dp, cp)") == parse_dims("flat[dp,cp]"));
  CHECK(parse_dims("flat[dp] of\tx  # cp:partial") == parse_dims("flat[dp] of x # cp:partial=sum"));
  CHECK(parse_dims("flat[dp]#rep=any") == parse_dims("flat[dp] # rep=any"));
  CHECK(parse_dims("flats[dp]").dims[0].name == "flats");
  CHECK(parse_dims("of x").dims[0].name == "of");
  CHECK(parse_dims("rep # rep:partial").partial[0].first == "rep");  // an axis of that name
  CHECK(parse_dims("_q0[Tp_1]").dims[0].shards[0].axis == "Tp_1");
  CHECK(parse_dims("s[cp:sizes=1/2/3]") == parse_dims("s[cp:sizes=9+sizes=1/2/3]"));
  CHECK(parse_dims("  x[ tp , dp ]#tp2:replicated ") == parse_dims("x[tp,dp] # tp2:replicated"));
}

TEST_CASE("what a line means") {
  const Placement line = parse_dims("flat[dp:align=n] of (q:5|k)[tp] y # cp:partial=avg");
  CHECK(line.flat);
  CHECK(line.flat_of);
  CHECK(line.flat_shards[0].align == Size{std::string("n")});
  REQUIRE(line.dims.size() == 2);
  CHECK(line.dims[0].parts[0].size == Size{std::int64_t{5}});
  CHECK_FALSE(line.dims[0].parts[1].size);
  CHECK(line.dims[0].shards[0].axis == "tp");
  CHECK(line.partial[0] == std::pair<std::string, Reduce>("cp", Reduce::avg));
  CHECK(parse_dims("").dims.empty());
}

TEST_CASE("errors show the line and a caret") {
  CHECK(message("b s[cp:zagzig] h") ==
        "unknown mod zagzig; expected even sizes= zigzag natural stride= interleave= pad= align= "
        "partial sharded, column 8\n"
        "  b s[cp:zagzig] h\n"
        "         ^");
  CHECK(message("x[tp") == "expected ], column 5\n  x[tp\n      ^");
  CHECK(message("x[]").starts_with("expected a mesh axis, column 3"));
  CHECK(message("x y]").starts_with("expected a blank, column 4"));
  CHECK(message("* x *").starts_with("* stands for any number of dimensions"));
  CHECK(message("*[tp]").starts_with("* cannot be sharded"));
  CHECK(message("(a)[tp]").starts_with("expected at least two parts: (a|b), column 1"));
  CHECK(message("(a*b|c)").starts_with("a part has a plain name, column 1"));
  CHECK(message("x (a|b*c)").starts_with("a part has a plain name, column 3"));
  CHECK(message("(a*b:3)").starts_with("expected at least two parts: (a|b), column 1"));
  CHECK(message("(a|b").starts_with("expected ), column 5"));
  CHECK(message("x[tp] y[tp]").starts_with("the axis tp is named twice"));
  CHECK(message("x[tp] # tp:partial").starts_with("the axis tp is named twice"));
  CHECK(
      message("x[tp:zigzag+stride=2]").starts_with("sizes, zigzag, stride and interleave exclude"));
  CHECK(message("x[tp:partial+pad=2]").starts_with("partial goes with no other mod"));
  CHECK(message("x(tp,zigzag,stride=2)").starts_with("sizes, zigzag, stride and interleave"));
  CHECK(
      message("flat[dp,tp:partial]")
          .starts_with("partial cuts nothing of what is flattened: write # tp:partial, column 5"));
  CHECK(message("x[tp:pad=0]").starts_with("expected a size, at least 1, column 10"));
  CHECK(message("x[tp:stride=99999999999999999999]").starts_with("expected a number"));
  CHECK(message("x[tp:sizes=]").starts_with("expected a size, at least 0, column 12"));
  CHECK(message("x[tp:partial=min]").starts_with("unknown reduction min"));
  CHECK(message("x # tp").starts_with("expected :, column 7"));
  CHECK(message("x # rep=all").starts_with("expected any, column 9"));
  CHECK(message("x # tp:gone").starts_with("unknown note gone"));
  CHECK(message("flat[dp] x").starts_with("expected of, # or the end"));
  CHECK(message("flat[dp] of").starts_with("expected the dimensions that are flattened"));
  CHECK(message("2x").starts_with("expected a dimension"));
  CHECK(message("x # dp:partial,cp:partial").starts_with("expected a blank between notes"));
  CHECK(message("x # dp:=").starts_with("expected the axis that is meant, column 9"));
  CHECK(message("x # dp:partial=min").starts_with("unknown reduction min"));
  CHECK(message("(a:3)").starts_with("expected at least two parts: (a|b), column 1"));
  CHECK(message("(a:0|b)").starts_with("expected a size, at least 1, column 4"));
  CHECK(message("(a:|b)").starts_with("expected a number or a name of [model], column 4"));
  CHECK(message("a* b").starts_with("expected a name after *, column 3"));
  CHECK(message("x[tp)").starts_with("expected ], column 5"));
  CHECK(message("x(tp]").starts_with("expected ), column 5"));
  CHECK(message("x[zigzag:pad]").starts_with("expected =, column 13"));
  CHECK(message("x[tp:stride]").starts_with("expected =, column 12"));
  CHECK(message("x[tp:stride=0]").starts_with("expected a number, at least 1, column 13"));
  CHECK(message("x[tp:sizes]").starts_with("expected =, column 11"));
  CHECK(message("flat[dp] ofx").starts_with("expected of, # or the end of the line, column 10"));
  CHECK(message("flat[tp] of x[tp]").starts_with("the axis tp is named twice, column 15"));
  CHECK(message("x[tp] # tp:replicated").starts_with("the axis tp is named twice, column 9"));
  CHECK(message("x # tp:partial tp:partial").starts_with("the axis tp is named twice"));
  CHECK(message("* # *").starts_with("expected a note"));
  for (const char* mods : {"sizes=1/2+zigzag", "sizes=1+stride=2", "sizes=1+interleave=2",
                           "zigzag+interleave=2", "stride=2+interleave=2", "interleave=2+zigzag"}) {
    CHECK(message(std::string("x[tp:") + mods + "]")
              .starts_with("sizes, zigzag, stride and interleave exclude each other, column 6"));
  }
  for (const char* mods : {"even", "align=2", "pad=n", "zigzag", "sizes=1/1", "stride=1"}) {
    CHECK(message(std::string("x[tp:partial+") + mods + "]")
              .starts_with("partial goes with no other mod: nothing is cut along the axis"));
  }
  std::string many;
  for (int i = 0; i < 65; ++i) many += "d ";
  CHECK(message(many).starts_with("more than 64 dimensions"));
  CHECK(message(many.substr(2)).empty());
  const auto list = [](int count, const char* between) {
    std::string all = "a0";
    for (int i = 1; i < count; ++i) all += between + ("a" + std::to_string(i));
    return all;
  };
  CHECK(message("x[" + list(64, ",") + "]").empty());
  CHECK(message("x[" + list(65, ",") + "]").starts_with("more than 64 axes"));
  CHECK(message("(" + list(1024, "|") + ")").empty());
  CHECK(message("(" + list(1025, "|") + ")").starts_with("more than 1024 parts"));
}

}  // namespace
}  // namespace ttcheck
