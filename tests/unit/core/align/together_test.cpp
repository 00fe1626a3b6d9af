// SPDX-License-Identifier: Apache-2.0
#include "core/align/together.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::align {
namespace {

std::string joined(const std::vector<std::string>& names) { return together(names); }

TEST_CASE("names are compressed where they differ") {
  CHECK(joined({"a.q.w", "a.k.w"}) == "a.{q,k}.w");
  CHECK(joined({"a.q_proj", "a.k_proj"}) == "a.{q_proj,k_proj}");
  CHECK(joined({"a.w"}) == "a.w");
  CHECK(joined({"a", "a"}) == "{a,a}");
  CHECK(joined({"ab.c", "ac.c"}) == "{ab,ac}.c");
  CHECK(joined({"e.0.gate.w", "e.0.up.w", "e.1.gate.w"}) == "e.{0.gate,0.up,1.gate}.w");
}

TEST_CASE("of many names the first ones and the last are listed") {
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("e." + std::to_string(i) + ".w");
  CHECK(joined(names) == "e.{0,1,2,3,4,5,6,...,19}.w");
  names.resize(8);
  CHECK(joined(names) == "e.{0,1,2,3,4,5,6,7}.w");
}

TEST_CASE("what differs is whole dotted parts") {
  const std::vector<std::string> names = {"layers.3.q.weight", "layers.3.k.weight"};
  CHECK(common_of(names).differing(names[1]) == "k");
}

}  // namespace
}  // namespace ttcheck::align
