#include "formats/keras_config.hpp"

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

}  // namespace
}  // namespace ttcheck::formats
