// SPDX-License-Identifier: Apache-2.0
#include "core/model/name_number.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck {
namespace {

TEST_CASE("the first part of a name that is a number, and what follows it") {
  struct Row {
    std::string name;
    std::int64_t number;  ///< -1: none
    std::string rest;
  };
  for (const Row& row : std::vector<Row>{{"", -1, ""},
                                         {".", -1, ""},
                                         {"w", -1, ""},
                                         {"a.b", -1, ""},
                                         {"7", 7, ""},
                                         {"layers.12", 12, ""},
                                         {"layers.12.mlp.3.w", 12, ".mlp.3.w"},
                                         {"0.w", 0, ".w"},
                                         {"007.w", 7, ".w"},
                                         {"a..5", 5, ""},
                                         {"5.", 5, "."},
                                         {".5", 5, ""},
                                         {"layer12.3", 3, ""},
                                         {"12a.3", 3, ""},
                                         {"-1.2", 2, ""},
                                         {"1/2.4", 4, ""},
                                         {"1:.4", 4, ""},
                                         {"1 .4", 4, ""},
                                         {"999999999.w", 999999999, ".w"},
                                         {"1000000000.w", -1, ""},
                                         {"0000000001.2", 2, ""},
                                         {"123456789", 123456789, ""}}) {
    INFO(row.name);
    const auto found = first_number(row.name);
    REQUIRE(found.has_value() == (row.number >= 0));
    if (!found) continue;
    CHECK(found->first == row.number);
    CHECK(found->second == row.rest);
  }
}

TEST_CASE("a layer's name ends with its number") {
  CHECK(layer_of("model.layers.2.up.weight") == "model.layers.2");
  CHECK(layer_of("h.0.experts.3.w") == "h.0");
  CHECK(layer_of("layers.2") == "");
  CHECK(layer_of("head.weight") == "");
}

}  // namespace
}  // namespace ttcheck
