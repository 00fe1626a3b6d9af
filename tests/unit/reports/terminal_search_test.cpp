// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

TEST_CASE("what a search found, and with what") {
  Verdict verdict;
  CHECK(search_section(verdict, {}).empty());
  verdict.search = Search{};
  Search& search = *verdict.search;
  search.axis = "ops";
  search.examined = 1234;
  search.total = 5678;
  search.bytes_read = 512;
  search.bytes_total = 1536;
  const std::string examined =
      "  examined   1,234 of 5,678; 512 B read, where all of it is 1.5 KiB\n";
  CHECK(search_section(verdict, {}) ==
        "\nSearch over ops\n  first bad  none\n  last good  none\n" + examined);
  search.first_bad_op = "a\n";
  search.last_good_op = "b";
  CHECK(search_section(verdict, {}) ==
        "\nSearch over ops\n  first bad  a\\n\n  last good  b\n" + examined);
  search.first_bad_step = 40;
  search.last_good_step = 39;
  const std::string steps =
      "\nSearch over ops\n  first bad  step 40\n  last good  step 39\n" + examined;
  CHECK(search_section(verdict, {}) == steps);
  search.log = {"step 0: good", "step 4:\tbad"};
  CHECK(search_section(verdict, {}) == steps);
  CHECK(search_section(verdict, {.verbose = 2}) ==
        steps + "             step 0: good\n             step 4:\\tbad\n");
  CHECK(search_section(verdict, {.color = true}).starts_with("\n\x1b[1mSearch over ops\x1b[0m\n"));
}

}  // namespace
}  // namespace ttcheck::reports
