// SPDX-License-Identifier: Apache-2.0
#include "cli/values.hpp"

#include <doctest/doctest.h>

#include "cli/usage.hpp"

namespace ttcheck::cli {
namespace {

TEST_CASE("steps are a number or a range with open ends") {
  CHECK(parse_steps("3").contains(3));
  CHECK(!parse_steps("3").contains(4));
  CHECK(parse_steps("3..5").contains(5));
  CHECK(parse_steps("3..").contains(1000));
  CHECK(!parse_steps("..5").contains(6));
  CHECK(!parse_steps("3").contains(std::nullopt));
  for (const char* wrong : {"", "..", "a", "3..1", "-3", "3...5"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_steps(wrong), Usage);
  }
}

TEST_CASE("bytes take units of 1024 and do not overflow") {
  CHECK(parse_bytes("--max-memory", "512") == 512);
  CHECK(parse_bytes("--max-memory", "2G") == (std::uint64_t{2} << 30));
  CHECK(parse_bytes("--max-memory", "64KiB") == 65536);
  for (const char* wrong : {"", "0", "G", "1X", "99999999999T", "1GG", "-1"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_bytes("--max-memory", wrong), Usage);
  }
}

TEST_CASE("a tolerance may be for the names that a glob matches") {
  CHECK(parse_tolerance("--rtol", "1e-3").value == 1e-3);
  const auto rule = parse_tolerance("--rtol", "**.bias:0.5");
  CHECK(rule.glob == "**.bias");
  CHECK(rule.value == 0.5);
  for (const char* wrong : {"", "x", "-1", "nan", "inf", "a:", "1e-3x"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_tolerance("--rtol", wrong), Usage);
  }
}

TEST_CASE("outputs name a report and a path") {
  CHECK(parse_output("json=a=b").path == "a=b");
  CHECK_THROWS_AS(parse_output("json"), Usage);
  CHECK_THROWS_AS(parse_output("json="), Usage);
  CHECK_THROWS_AS(parse_output("xml=-"), Usage);
}

TEST_CASE("layouts may be for one side") {
  CHECK(parse_layout_file("a.toml").side == Side::both);
  CHECK(parse_layout_file("candidate=a.toml").side == Side::candidate);
  CHECK(parse_layout_file("reference=a.toml").path == "a.toml");
  CHECK_THROWS_AS(parse_layout_file("reference="), Usage);
}

}  // namespace
}  // namespace ttcheck::cli
