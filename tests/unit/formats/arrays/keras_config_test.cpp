// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/keras_config.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::formats {
namespace {

std::vector<Finding> of(const std::string& config) {
  return keras_findings(config, {"m.h5", {}, {}});
}

TEST_CASE("H515: layers that carry code are told, however deep, and nothing else is") {
  CHECK(of(R"({"class_name": "Dense", "config": {"name": "Lambda"}})").empty());
  const auto found = of(R"({"layers": [{"class_name": "Lambda", "config": {"function":
                         {"class_name": "__lambda__", "config": {}}}}, {"class_name": 3}]})");
  REQUIRE(found.size() == 1);
  CHECK(found[0].code == Code::unsafe_pickle);
  CHECK(found[0].severity == Severity::warning);
  CHECK(found[0].message == "the model's definition carries code (never run), in places: 2");
}

TEST_CASE("H515: a bomb of brackets and what is no JSON are said and not followed") {
  for (const std::string& config : {std::string(1000000, '['), std::string("{"), std::string()}) {
    const auto found = of(config);
    REQUIRE(found.size() == 1);
    CHECK(found[0].code == Code::unreadable);
    CHECK(found[0].severity == Severity::warning);
  }
}

TEST_CASE("H515: code is told where readers differ: duplicate names, NaN, deep nesting") {
  const std::string carrier = R"({"class_name": "Dense", "class_name": "Lambda"})";
  REQUIRE(of(carrier).size() == 1);
  CHECK(of(carrier)[0].code == Code::unsafe_pickle);
  const std::string deep =
      std::string(70, '[') + R"({"class_name": "Lambda"})" + std::string(70, ']');
  for (const std::string& config :
       {std::string(R"({"rate": NaN, "class_name": "__lambda__"})"), deep}) {
    const auto found = of(config);
    REQUIRE(found.size() == 2);
    CHECK(found[0].code == Code::unreadable);
    CHECK(found[1].code == Code::unsafe_pickle);
  }
}

}  // namespace
}  // namespace ttcheck::formats
