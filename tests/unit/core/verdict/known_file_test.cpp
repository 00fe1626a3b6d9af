// SPDX-License-Identifier: Apache-2.0
#include "core/verdict/known_file.hpp"

#include <doctest/doctest.h>

#include <string>

#include "core/base/error.hpp"

namespace ttcheck::verdict {
namespace {

const std::string kEntry = "known = 1\n[[difference]]\nreason = \"r\"\ndate = 2026-01-31\n";

KnownDifference entry(const std::string& more) {
  const KnownFile file = parse_known(kEntry + more, "known.toml");
  REQUIRE(file.differences.size() == 1);
  return file.differences.front();
}

TEST_CASE("an entry is of the tensors and codes that it names") {
  const KnownDifference known = entry("tensors = ['a.*', 'b']\ncodes = ['tt307', 'missing']\n");
  CHECK(known.reason == "r");
  CHECK(known.date == "2026-01-31");
  CHECK(known.line == 2);
  CHECK(known.is_of({"a.x", Phase::none, 0, 0}));
  CHECK(known.is_of({"b", Phase::none, 0, 0}));
  CHECK_FALSE(known.is_of({"a.x.y", Phase::none, 0, 0}));
  CHECK_FALSE(known.is_of({"", Phase::none, 0, 0}));
  CHECK(known.has(Code::shape_or_dtype));
  CHECK(known.has(Code::missing));
  CHECK_FALSE(known.has(Code::diverged));
}

TEST_CASE("an op's glob is of each of its records") {
  const KnownDifference known = entry("tensors = ['layers.0.attn']\n");
  CHECK(known.is_of({"layers.0.attn/output.0", Phase::forward, 3, 1}));
  CHECK_FALSE(known.is_of({"layers.0.attn.core/output.0", Phase::forward, 0, 0}));
  CHECK(known.has(Code::diverged));
}

TEST_CASE("an entry without tensors is of whatever has the code") {
  const KnownDifference known = entry("codes = ['config']\n");
  CHECK(known.is_of({"", Phase::none, 0, 0}));
  CHECK(known.is_of({"w", Phase::none, 0, 0}));
  CHECK_FALSE(known.has(Code::diverged));
}

TEST_CASE("what is no file of known differences is refused with its line") {
  CHECK(parse_known("known = 1\n", "k").differences.empty());
  for (const std::string& bad :
       {std::string(), std::string("known = 2\n"), kEntry, kEntry + "tensors = ['{a']\n",
        kEntry + "codes = ['TT999']\n", kEntry + "tensors = 'a'\n", kEntry + "tensors = [1]\n",
        kEntry + "tensors = ['a']\nglobs = []\n", kEntry + "tensors = []\n",
        std::string("known = 1\n[difference]\n")}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(static_cast<void>(parse_known(bad, "k")), doctest::Contains("line "),
                         Error);
  }
}

}  // namespace
}  // namespace ttcheck::verdict
