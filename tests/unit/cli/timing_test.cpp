// SPDX-License-Identifier: Apache-2.0
#include "cli/timing.hpp"

#include <doctest/doctest.h>

#include <regex>

namespace ttcheck::cli {
namespace {

TEST_CASE("parts in the order in which they came, each once") {
  Timing timing;
  for (const char* part : {"open", "meet", "judge", "meet", "report"}) timing.begin(part);
  const std::regex line(
      R"(ttcheck: \d+\.\d{3} s: open \d+\.\d{3}, meet \d+\.\d{3}, judge \d+\.\d{3}, report \d+\.\d{3}\n)");
  CHECK(std::regex_match(timing.text(), line));
  CHECK(std::regex_match(Timing().text(), std::regex(R"(ttcheck: \d+\.\d{3} s\n)")));
}

}  // namespace
}  // namespace ttcheck::cli
