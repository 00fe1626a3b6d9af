// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/coverage.hpp"

#include <doctest/doctest.h>

namespace ttcheck::verdict {

TEST_CASE("coverage adds up, field by field, and each rule once") {
  Coverage part;
  part.paired = 1, part.only_reference = 2, part.only_candidate = 3, part.unreadable = 5;
  part.weights = 4;
  part.steps_only_reference = {6};
  part.steps_only_candidate = {7};
  part.bytes_compared = 8, part.bytes_read = 9, part.bytes_unclaimed = 10;
  add_beside(part, {"loss", 1, 0});
  exclude(part, "r", 4);
  Coverage whole = part;
  exclude(whole, "s", 100);
  add_coverage(part, whole);
  CHECK(whole.paired == 2);
  CHECK(whole.weights == 8);
  add_beside(whole, {"copy", 0, 5});
  REQUIRE(whole.beside.size() == 2);
  CHECK(whole.beside[0].reference == 2);
  CHECK(whole.beside[1].candidate == 5);
  CHECK(whole.only_reference == 4);
  CHECK(whole.only_candidate == 6);
  CHECK(whole.excluded == 108);
  CHECK(whole.unreadable == 10);
  CHECK(whole.excluded_by == decltype(whole.excluded_by){{"r", 8}, {"s", 100}});
  CHECK(whole.steps_only_reference == std::vector<std::int64_t>{6, 6});
  CHECK(whole.steps_only_candidate == std::vector<std::int64_t>{7, 7});
  CHECK(whole.bytes_compared == 16);
  CHECK(whole.bytes_read == 18);
  CHECK(whole.bytes_unclaimed == 20);
}

}  // namespace ttcheck::verdict
