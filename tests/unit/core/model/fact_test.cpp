// SPDX-License-Identifier: Apache-2.0
#include "core/model/fact.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace ttcheck {
namespace {

struct Row {
  FactValue value;
  std::string text;
  std::optional<double> number;
};

TEST_CASE("facts as text, and as numbers where they are some") {
  constexpr auto kInfinity = std::numeric_limits<double>::infinity();
  for (const Row& row :
       std::vector<Row>{{true, "true", std::nullopt},
                        {false, "false", std::nullopt},
                        {std::int64_t{0}, "0", 0.0},
                        {std::int64_t{-7}, "-7", -7.0},
                        {std::numeric_limits<std::int64_t>::min(), "-9223372036854775808", -0x1p63},
                        {(std::int64_t{1} << 53) + 1, "9007199254740993", 0x1p53},
                        {0.1, "0.1", 0.1},
                        {1e-5, "1e-05", 1e-5},
                        {-0.0, "-0", -0.0},
                        {5e-324, "5e-324", 5e-324},
                        {std::numeric_limits<double>::max(), "1.7976931348623157e+308",
                         std::numeric_limits<double>::max()},
                        {kInfinity, "inf", kInfinity},
                        {-kInfinity, "-inf", -kInfinity},
                        {std::string(), "", std::nullopt},
                        {std::string("3"), "3", std::nullopt},
                        {std::string("a\nb"), "a\nb", std::nullopt}}) {
    INFO(row.text);
    CHECK(to_string(row.value) == row.text);
    CHECK(number_of(row.value) == row.number);
  }
  CHECK(std::isnan(number_of(FactValue{std::nan("")}).value()));
}

TEST_CASE("the first fact of a name is found") {
  const std::vector<Fact> facts = {{"a", true, FactUse::compared, {}},
                                   {"b", 1.0, FactUse::note, {}},
                                   {"b", 2.0, FactUse::note, {}}};
  CHECK(find_fact(facts, "a") == &facts[0]);
  CHECK(find_fact(facts, "b") == &facts[1]);
  CHECK(find_fact(facts, "c") == nullptr);
  CHECK(find_fact(facts, "") == nullptr);
  CHECK(find_fact({}, "a") == nullptr);
}

}  // namespace
}  // namespace ttcheck
