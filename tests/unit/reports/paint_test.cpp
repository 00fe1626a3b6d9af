// SPDX-License-Identifier: Apache-2.0
#include "reports/paint.hpp"

#include <doctest/doctest.h>

#include <string>

namespace ttcheck::reports {
namespace {

/// SGR of ECMA-48: bold with a colour.
std::string in(const std::string& code) { return "\x1b[" + code + "mw\x1b[0m"; }

TEST_CASE("words in colour, or as they are") {
  const Paint on(true), off(false);
  CHECK(on.bold("w") == in("1"));
  CHECK(on.dim("w") == in("2"));
  CHECK(on.of(Outcome::equal, "w") == in("1;32"));
  CHECK(on.of(Outcome::noise, "w") == in("1;36"));
  CHECK(on.of(Outcome::diverged, "w") == in("1;31"));
  CHECK(on.of(Outcome::not_comparable, "w") == in("1;33"));
  CHECK(on.of(Severity::error, "w") == in("1;31"));
  CHECK(on.of(Severity::warning, "w") == in("1;33"));
  CHECK(on.of(Severity::note, "w") == in("1;36"));
  for (const std::string& plain : {off.bold("w"), off.dim("w"), off.of(Outcome::diverged, "w"),
                                   off.of(Severity::error, "w")}) {
    CHECK(plain == "w");
  }
}

}  // namespace
}  // namespace ttcheck::reports
