// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "reports/terminal_parts.hpp"

namespace ttcheck::reports {
namespace {

TEST_CASE("a table follows an empty line, and its first row is bold in colour") {
  Columns columns("lr");
  columns.add({"Name", "n"});
  columns.add({"a", "12"});
  CHECK(table_section(columns, {}) == "\nName   n\na     12\n");
  CHECK(table_section(columns, {.color = true}) == "\n\x1b[1mName   n\x1b[0m\na     12\n");
}

}  // namespace
}  // namespace ttcheck::reports
