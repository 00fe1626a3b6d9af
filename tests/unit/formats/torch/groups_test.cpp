// SPDX-License-Identifier: Apache-2.0
#include "formats/torch/groups.hpp"

#include <doctest/doctest.h>

namespace ttcheck::formats {
namespace {

TEST_CASE("ids of an optimizer: order and shape decide, and doubt is told") {
  const std::vector<Candidate> model = {{"a", {3}}, {"b", {2, 2}}, {"c", {3}}, {"d", {2, 2}}};
  bool ambiguous = false;
  CHECK(match_groups({{{2, 2}, {2, 2}}, {{3}, {3}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{1, 3}, {0, 2}});
  CHECK(!ambiguous);
  CHECK(match_groups({{{3}}, {{2, 2}, {3}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{0}, {1, 2}});
  CHECK(!ambiguous);
  CHECK(match_groups({{{3}}, {{2, 2}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{0}, {1}});
  CHECK(ambiguous);
  CHECK(match_groups({{{9}}}, model, ambiguous).empty());
}

TEST_CASE("ids of an optimizer: groups of later layers leave the first ones' parameters alone") {
  const std::vector<Candidate> model = {{"0.gain", {1}}, {"0.w", {3, 2}}, {"0.b", {3}},
                                        {"1.gain", {1}}, {"1.w", {5, 2}}, {"1.b", {5}},
                                        {"norm", {2}}};
  bool ambiguous = false;
  CHECK(match_groups({{{1}, {5, 2}, {5}}, {{3, 2}}, {{1}, {3}, {2}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{3, 4, 5}, {1}, {0, 2, 6}});
  CHECK(!ambiguous);
  CHECK(match_groups({{{5, 2}, {5}}, {{1}, {1}, {2}}, {{3, 2}, {3}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{4, 5}, {0, 3, 6}, {1, 2}});
  CHECK(!ambiguous);
  CHECK(match_groups({{{1}, {5}}}, model, ambiguous) ==
        std::vector<std::vector<std::size_t>>{{0, 5}});
  CHECK(ambiguous);  // some are frozen
}

TEST_CASE("ids of an optimizer: too many ways to deal alike layers out are not all tried") {
  const std::vector<Candidate> model(400, {"w", {2}});
  const std::vector<std::vector<Shape>> groups(20, std::vector<Shape>(20, {2}));
  bool ambiguous = false;
  CHECK(match_groups(groups, model, ambiguous).size() == 20);
  CHECK(ambiguous);
}

}  // namespace
}  // namespace ttcheck::formats
