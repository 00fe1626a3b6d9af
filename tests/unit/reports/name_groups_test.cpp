// SPDX-License-Identifier: Apache-2.0
#include "reports/name_groups.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace ttcheck::reports {
namespace {

TEST_CASE("whole layers are one word, others stand by themselves") {
  const std::vector<std::string_view> names = {"model.layers.2.a", "model.layers.2.b",
                                               "lm_head",          "model.layers.3.a",
                                               "model.layers.3.b", "blocks.7.w"};
  CHECK(grouped_names(names, 4) == "model.layers.{2,3}.** (4), lm_head, blocks.7.w");
  CHECK(grouped_names(names, 1) == "model.layers.{2,3}.** (4) and 2 more");
  CHECK(grouped_names({}, 4).empty());
}

TEST_CASE("names are escaped") {
  const std::vector<std::string_view> names = {"a\x1b[2J", "x\n.0.a", "x\n.1.a"};
  CHECK(grouped_names(names, 4) == R"(a\x1b[2J, x\n.0.a, x\n.1.a)");
}

}  // namespace
}  // namespace ttcheck::reports
