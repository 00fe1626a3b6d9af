// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <span>
#include <string>

namespace ttcheck {
namespace {

TEST_CASE("a place leaves out what is unknown") {
  struct Row {
    Where where;
    const char* text;
  };
  for (const Row& row : {Row{{"", {}, ""}, ""}, Row{{"f.pt", {}, ""}, "f.pt"},
                         Row{{"", 0, ""}, "0x0"}, Row{{"", {}, "w"}, "w"},
                         Row{{"f.pt", 8000, ""}, "f.pt:0x1f40"}, Row{{"f.pt", {}, "w"}, "f.pt: w"},
                         Row{{"", 10, "w"}, "0xa: w"}, Row{{"f.pt", 255, "w"}, "f.pt:0xff: w"}}) {
    CHECK(to_string(row.where) == row.text);
    const std::string place = row.text;
    CHECK(Error("is bad", row.where).what() == (place.empty() ? "" : place + ": ") + "is bad");
  }
}

TEST_CASE("of several errors the first is thrown, with the words of the others") {
  const std::array<std::optional<Error>, 3> errors = {
      std::nullopt, Error("gone", {"a", {}, {}}).because("missing"), Error("torn", {"b", {}, {}})};
  const auto thrown = caught([&] { throw_any(errors); });
  REQUIRE(thrown);
  CHECK(std::string(thrown->what()) == "a: gone; b: torn");
  CHECK(thrown->reason() == "missing");
  CHECK(Error("x").reason() == "error");
  CHECK_FALSE(caught([&] { throw_any(std::span(errors).first(1)); }));
}

TEST_CASE("a place is filled in where it was unknown, and only there") {
  const Where outer{"outer", 1, "all"};
  CHECK(Error("x").at(outer).where() == outer);
  CHECK(Error("x", {"f", {}, ""}).at(outer).where() == Where{"f", 1, "all"});
  CHECK(Error("x", {"", 0, ""}).at(outer).where() == Where{"outer", 0, "all"});
  CHECK(Error("x", {"", {}, "w"}).at(outer).where() == Where{"outer", 1, "w"});
  CHECK(Error("x", {"f", 2, "w"}).at(outer).where() == Where{"f", 2, "w"});
  CHECK(Error("x", {"f", 2, "w"}).at(outer).message() == "x");
  CHECK(std::string(Error("x").at(outer).what()) == "outer:0x1: all: x");
}

}  // namespace
}  // namespace ttcheck
