// SPDX-License-Identifier: Apache-2.0
#include "core/model/attributes.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("attributes are read with care") {
  const Attributes::Items items = {{"eps", "1e-5"},     {"heads", "4"},     {"many", "1e300"},
                                   {"part", "2.5"},     {"causal", "true"}, {"word", "\"tanh\""},
                                   {"broken", "1e-5x"}, {"none", "null"}};
  const Attributes attributes(items);
  CHECK(attributes.number("eps") == 1e-5);
  CHECK(attributes.extent("heads") == 4);
  CHECK_FALSE(attributes.extent("many"));
  CHECK_FALSE(attributes.extent("part"));
  CHECK_FALSE(attributes.number("broken"));
  CHECK_FALSE(attributes.number("none"));
  CHECK_FALSE(attributes.number("absent"));
  CHECK(attributes.flag("causal") == true);
  CHECK_FALSE(attributes.flag("heads"));
  CHECK(attributes.word("word") == "tanh");
}

}  // namespace
}  // namespace ttcheck
