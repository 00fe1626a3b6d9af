// SPDX-License-Identifier: Apache-2.0
// What a torch file states beside its tensors.

#include "formats/torch/facts.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/opened_torch.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::OpenedTorch;
using tests::torch_archive;

/// `value`, and what BUILD gives it.
std::string built(const std::string& value, const std::string& state) {
  return value + state + "b";
}

/// Facts of a file with one tensor and this beside it, by lines: `name = value`.
std::string facts_beside(const std::string& name, const std::string& value) {
  const OpenedTorch file(torch_archive(dict({{"w", tensor({})}, {name, value}})));
  std::string lines;
  for (const Fact& fact : file.state.facts) {
    lines += fact.name + " = " + to_string(fact.value) + (fact.unread ? " (unread)\n" : "\n");
  }
  return lines;
}

TEST_CASE("nested values of an object take part, also what it was made with") {
  CHECK(facts_beside("args", call("argparse", "Namespace", {})) ==
        "args = object of argparse.Namespace\n");
  CHECK(facts_beside("args", built(call("argparse", "Namespace", {}),
                                   dict({{"lr", integer(3)}}))) == "args.lr = 3\n");
  CHECK(facts_beside("x", call("m", "C", {integer(1), text("a")})) == "x.0 = 1\nx.1 = a\n");
  CHECK(facts_beside("x", built(call("m", "C", {integer(1)}), dict({{"k", integer(2)}}))) ==
        "x.k = 2\nx.(0) = 1\n");
}

TEST_CASE("a value that is not read is no text that is the same on both sides") {
  CHECK(facts_beside("x", "\x82\x05") == "x = extension 5\n");
  CHECK(facts_beside("x", "\x97") == "x = not read: a value of a kind that is not read (unread)\n");
}

TEST_CASE("options of groups of parameters say what states them") {
  const std::string group = dict({{"lr", integer(1)}, {"params", list({})}});
  const OpenedTorch file(torch_archive(
      dict({{"w", tensor({})},
            {"optimizer", dict({{"state", dict({})}, {"param_groups", list({group})}})}})));
  const Fact* const rate = find_fact(file.state.facts, "optimizer.groups.0.lr");
  REQUIRE(rate != nullptr);
  CHECK(rate->source == FactSource::groups);
}

}  // namespace
}  // namespace ttcheck::formats
