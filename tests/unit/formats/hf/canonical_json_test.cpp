// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/canonical_json.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace ttcheck::formats {
namespace {

TEST_CASE("values that say the same are the same text") {
  for (const auto& [given, expected] : std::vector<std::pair<std::string, std::string>>{
           {R"({"b": [1, 2.0, 0.5], "a": {"y": null, "x": true}})",
            R"({"a":{"x":true,"y":null},"b":[1,2,0.5]})"},
           {R"([])", "[]"},
           {R"({})", "{}"},
           {R"(["a\"b\\c\u0001é"])", "[\"a\\\"b\\\\c\\u0001é\"]"},
           {"[-0.0, 1e300, 9007199254740993, 18446744073709551615, -5]",
            "[0,1e+300,9007199254740993,18446744073709551615,-5]"}}) {
    INFO(given);
    CHECK(canonical_text(JsonDocument(given, "f").root()) == expected);
  }
}

}  // namespace
}  // namespace ttcheck::formats
