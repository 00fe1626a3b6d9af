// SPDX-License-Identifier: Apache-2.0
#include "cli/show_name.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace ttcheck::cli {
namespace {

WantedTensor typed(const std::string& name, const std::string& phase = "") {
  Options options;
  options.command = "show";
  options.words = {"run", name};
  options.phase = phase;
  return WantedTensor(options);
}

Identity record(const std::string& name, Phase phase) {
  Identity identity;
  identity.name = name;
  identity.phase = phase;
  return identity;
}

TEST_CASE("S15 a name that is there as it was typed is meant, also where it begins like a phase") {
  const WantedTensor wanted = typed("forward:0:0:x");
  CHECK(wanted.among({"forward:0:0:x", "0:0:x"}) == "forward:0:0:x");
  CHECK(wanted.admits(record("forward:0:0:x", Phase::none)));
  CHECK(typed("a*", "").among({"a*", "ab"}) == "a*");
}

TEST_CASE("a phase in front of a name, or beside it") {
  const WantedTensor wanted = typed("backward:m/grad.0");
  CHECK(wanted.among({"m/grad.0", "m/grad.1"}) == "m/grad.0");
  CHECK(wanted.admits(record("m/grad.0", Phase::backward)));
  CHECK_FALSE(wanted.admits(record("m/grad.0", Phase::forward)));
  CHECK_FALSE(typed("m/grad.0", "forward").admits(record("m/grad.0", Phase::backward)));
  CHECK(typed(":x").among({":x"}) == ":x");
}

TEST_CASE("a glob that one name matches, none, or several") {
  CHECK(typed("m.*").among({"m.a", "n.a", "m.a"}) == "m.a");
  CHECK_FALSE(typed("m.*").among({"n.a"}));
  CHECK_THROWS_AS(typed("m.*").among({"m.a", "m.b"}), Error);
}

TEST_CASE("what is not there is told with what may have been meant") {
  CHECK(typed("weight").unknown({"a.weight"}, "run").message() ==
        "no tensor named 'weight'; did you mean a.weight?");
  CHECK(typed("weight").unknown({}, "run").message().ends_with(": none can be read"));
}

}  // namespace
}  // namespace ttcheck::cli
