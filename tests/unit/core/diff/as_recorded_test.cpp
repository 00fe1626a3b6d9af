// SPDX-License-Identifier: Apache-2.0
#include "core/diff/as_recorded.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <span>
#include <vector>

#include "core/base/digest.hpp"
#include "tests/support/diffed.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/support/trace_builder.hpp"

namespace ttcheck::diff {
namespace {

using tests::diffed;
using tests::TempDir;
using tests::TraceFile;

std::string hash_of(float first, int count) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
  Digest digest;
  digest.add(std::as_bytes(std::span(values)));
  return fmt::format("xxh3:{:016x}", digest.value());
}

/// Four numbers from `first` on, in one array or in parts; only `told` of them where it is given:
/// `hash`, or `stats` (smallest, largest, norm).
std::string written(const TempDir& directory, int ranks, float first,
                    const std::string& told = "") {
  directory.write("run.json", tests::run_json(ranks));
  const int count = 4 / ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    const float begin = first + static_cast<float>(rank * count);
    const float end = begin + static_cast<float>(count - 1);
    double squares = 0;
    for (int i = 0; i < count; ++i) squares += std::pow(begin + static_cast<float>(i), 2);
    std::string record = R"({"seq":0,"phase":"forward","module":"m","kind":"output")";
    if (ranks > 1) record += R"(,"dims":"s[tp]")";
    if (told == "hash") record += fmt::format(R"(,"hash":"{}")", hash_of(begin, count));
    if (told == "stats") {
      record += fmt::format(R"(,"stats":{{"min":{},"max":{},"l2":{},"nan":0,"inf":0,"numel":{}}})",
                            begin, end, std::sqrt(squares), count);
    }
    if (!told.empty()) record += fmt::format(R"(,"shape_local":[{}])", count);
    directory.write(fmt::format("step-000001/rank-{:05}.safetensors", rank),
                    TraceFile().add("k", told.empty() ? count : 0, record + "}", begin).text());
  }
  return directory.path();
}

TEST_CASE("bytes on one side meet the other's hash, else its statistics") {
  for (const int ranks : {1, 2}) {
    CAPTURE(ranks);
    const TempDir a, hashed, other_hash, stats, other_stats;
    const std::string bytes = written(a, ranks, 1);
    const Verdict same = diffed(bytes, written(hashed, ranks, 1, "hash"));
    CHECK(same.outcome == Outcome::equal);
    CHECK(same.complete);
    CHECK(diffed(hashed.path(), bytes).outcome == Outcome::equal);
    CHECK(diffed(bytes, written(other_hash, ranks, 2, "hash")).outcome == Outcome::diverged);
    const Verdict noise = diffed(bytes, written(stats, ranks, 1, "stats"));
    CHECK(noise.outcome == Outcome::noise);  // statistics that agree are no equality
    CHECK(noise.complete);
    CHECK(diffed(bytes, written(other_stats, ranks, 2, "stats")).outcome == Outcome::diverged);
  }
}

TEST_CASE("parts meet a whole by statistics") {
  const TempDir whole, parts, other;
  const std::string bytes = written(parts, 2, 1);
  CHECK(diffed(written(whole, 1, 1, "stats"), bytes).outcome == Outcome::noise);
  CHECK(diffed(written(other, 1, 3, "stats"), bytes).outcome == Outcome::diverged);
}

}  // namespace
}  // namespace ttcheck::diff
