// SPDX-License-Identifier: Apache-2.0
#include "core/show/parts.hpp"

#include <doctest/doctest.h>

namespace ttcheck::show {
namespace {

TEST_CASE("of records alike it is said which one is shown") {
  Identity identity;
  identity.name = "mlp/output.0";
  identity.phase = Phase::forward;
  identity.microbatch = 2;
  identity.call = 1;
  CHECK(record_words(0, 1, identity).empty());
  CHECK(record_words(1, 3, identity) ==
        "record 2 of 3 of that name: forward, micro-batch 2, call 1");
}

TEST_CASE("what catches the eye: nothing finite, one value, nothing") {
  Profile profile;
  profile.sides.resize(1);
  CHECK(hints_of(profile) == std::vector<std::string>{"no value is finite"});
  ValueStats& values = profile.sides.front();
  profile.all.count = values.finite = 4;
  values.least = values.most = 0;
  CHECK(hints_of(profile) == std::vector<std::string>{"all finite values are 0"});
  profile.all.count = 1;
  CHECK(hints_of(profile).empty());
}

}  // namespace
}  // namespace ttcheck::show
