// SPDX-License-Identifier: Apache-2.0
// Records of which both sides kept a hash or statistics in place of the bytes.
#include "core/diff/judge_without_bytes.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/diffed.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::diff {
namespace {

using tests::TempDir;

/// A run of an output of `shape`, of which each rank kept what its text says; `more` is in the
/// record of each, too.
std::string run(const TempDir& directory, const std::vector<std::string>& kept,
                const std::string& shape = "[4]", const std::string& more = "") {
  directory.write("run.json", tests::run_json(static_cast<int>(kept.size())));
  for (std::size_t rank = 0; rank < kept.size(); ++rank) {
    const std::string record = fmt::format(
        R"({{"seq":0,"phase":"forward","module":"m","kind":"output","shape_local":{}{}{}{}{}}})",
        shape, kept[rank].empty() ? "" : ",", kept[rank], more.empty() ? "" : ",", more);
    directory.write(fmt::format("step-000001/rank-{:05}.safetensors", rank),
                    tests::TraceFile().add("k0", 0, record).text());
  }
  return directory.path();
}

std::string hash(int number) { return fmt::format(R"("hash":"xxh3:{:016x}")", number); }

std::string stats(double max, double l2, int nan = 0) {
  return fmt::format(R"("stats":{{"min":-1,"max":{},"l2":{},"nan":{},"inf":0,"numel":4}})", max, l2,
                     nan);
}

Verdict of(const std::string& left, const std::string& right) {
  const TempDir a, b;
  return tests::diffed(run(a, {left}), run(b, {right}));
}

TEST_CASE("the same hash is equal, another one is wrong, at a place of a file") {
  CHECK(of(hash(1), hash(1)).outcome == Outcome::equal);
  const Verdict verdict = of(hash(1), hash(2));
  CHECK(verdict.outcome == Outcome::diverged);
  REQUIRE(verdict.tensors.size() == 1);
  CHECK(verdict.tensors.front().test == Test::hash);
  REQUIRE(verdict.tensors.front().places);
  CHECK(verdict.tensors.front().places->candidate->file.ends_with("rank-00000.safetensors"));
}

TEST_CASE("statistics within the limit are noise, beyond it they are wrong") {
  CHECK(of(stats(3, 5), stats(3, 5 + 1e-7)).outcome == Outcome::noise);
  CHECK(of(stats(3, 5), stats(3, 5)).outcome == Outcome::noise);  // in another order, perhaps
  const Verdict verdict = of(stats(3, 5), stats(4, 5));
  CHECK(verdict.outcome == Outcome::diverged);
  CHECK(verdict.tensors.front().test == Test::statistics);
}

TEST_CASE("a NaN on one side is told as such") {
  const Verdict verdict = of(stats(3, 5), stats(3, 5, 1));
  CHECK(verdict.outcome == Outcome::diverged);
  CHECK(verdict.tensors.front().test == Test::non_finite);
}

TEST_CASE("hashes that differ are told by the statistics beside them") {
  const auto both = [](int number, double max) { return hash(number) + "," + stats(max, 5); };
  CHECK(of(both(1, 3), both(2, 3)).outcome == Outcome::noise);
  const Verdict verdict = of(both(1, 3), both(2, 4));
  CHECK(verdict.tensors.front().test == Test::statistics);
}

TEST_CASE("nothing, or hashes of two functions, compare nothing") {
  const std::string sha = R"("hash":"sha256:)" + std::string(64, '1') + "\"";
  for (const auto& [left, right] : {std::pair(std::string(), std::string()),
                                    std::pair(hash(1), std::string()), std::pair(hash(1), sha)}) {
    const Verdict verdict = of(left, right);
    CHECK(verdict.outcome == Outcome::not_comparable);
    CHECK_FALSE(verdict.complete);
  }
}

TEST_CASE("other hashes of a sum that ranks took in another layout may be rounding") {
  const TempDir a, b;
  const std::string one = run(a, {hash(1)});
  const Verdict verdict = tests::diffed(one, run(b, {hash(2), hash(2)}, "[4]", R"("dims":"*")"));
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(tests::diffed(one, run(b, {hash(1), hash(1)}, "[4]", R"("dims":"*")")).outcome ==
        Outcome::equal);
}

}  // namespace
}  // namespace ttcheck::diff
