// SPDX-License-Identifier: Apache-2.0
#include "core/base/for_reason.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck {
namespace {

std::string reason_of(const Error& thrown) {
  const auto error = caught([&] { for_reason("bad-map", [&]() -> int { throw thrown; }); });
  REQUIRE(error);
  CHECK(error->message() == thrown.message());
  return error->reason();
}

TEST_CASE("an error without a reason has the one that is given, others keep theirs") {
  CHECK(reason_of(Error("line 1")) == "bad-map");
  CHECK(reason_of(Error("not there").because("missing")) == "missing");
  CHECK(for_reason("bad-map", [] { return 7; }) == 7);
}

}  // namespace
}  // namespace ttcheck
