// SPDX-License-Identifier: Apache-2.0
#include "cli/asked.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck::cli {
namespace {

Verdict typed(const std::vector<std::string>& words) { return asked_by(words); }

std::string path_of(const std::optional<RunSummary>& run) { return run ? run->path : "-"; }

TEST_CASE("B8: who judges and which runs are meant is known from the words alone") {
  const Verdict diff = typed({"diff", "a", "b", "--bogus"});
  CHECK(diff.outcome == Outcome::not_comparable);
  CHECK(path_of(diff.reference) + path_of(diff.candidate) == "ab");
  const Verdict pair = typed({"show", "a", "t", "b", "--bogus", "--json"});
  CHECK(pair.outcome == Outcome::not_comparable);
  CHECK(path_of(pair.reference) + path_of(pair.candidate) == "ab");
  const Verdict one = typed({"show", "a", "t", "--bogus"});
  CHECK(!one.outcome);
  CHECK(path_of(one.reference) + path_of(one.candidate) == "a-");
  CHECK(!typed({"info", "a", "b"}).outcome);
  CHECK(!typed({"manifest", "a", "--write", "f"}).outcome);
  CHECK(typed({"manifest", "a", "--verify", "f"}).outcome == Outcome::not_comparable);
  CHECK(path_of(typed({"calibrate", "a", "b", "-o"}).reference) == "a");
  CHECK(path_of(typed({"--json"}).reference) == "-");
  CHECK(typed({"diffs", "a"}).command.empty());
  CHECK(path_of(typed({"diffs", "a"}).reference) == "-");
}

TEST_CASE("the same of words that were understood") {
  Options options;
  options.command = "show";
  options.words = {"a", "t", ""};
  CHECK(!asked_by(options).outcome);
  options.words.back() = "b";
  CHECK(asked_by(options).outcome == Outcome::not_comparable);
  options.command = "manifest";
  options.words = {"a"};
  options.write = "f";
  CHECK(!asked_by(options).outcome);
}

}  // namespace
}  // namespace ttcheck::cli
