// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "cli/diff.hpp"
#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::TempDir;

/// The numbers from, from + 1...
std::string block(std::int64_t from, std::int64_t rows, std::int64_t columns) {
  return tensor({"FloatStorage", "0", 64, from, {rows, columns}, {columns, 1}});
}

std::string chunk_of(const std::string& name, const std::string& value) {
  return tests::archive(dict({{"model_chunk0", dict({{name, value}})}}));
}

Verdict diff_of(const std::string& reference, const std::string& candidate) {
  cli::Options options;
  options.words = {reference, candidate};
  return cli::diff(options);
}

TEST_CASE("a folder of kinds, of one kind and of an iteration are the same dump") {
  const TempDir dir;
  for (const char* kind : {"wgrads", "dgrads", "activations"}) {
    const bool weights = std::string(kind) == "wgrads";
    dir.write(std::string(kind) + "/iter_0000007/mp_rank_00.pth",
              chunk_of(weights ? "decoder.layers.0.mlp.linear_fc1.weight" : "decoder/output0",
                       block(0, 2, 3)));
  }
  const Result<Run> all = open(dir.path());
  REQUIRE(all);
  CHECK(all->format == "megatron-dump");
  CHECK(all->steps == std::vector<std::optional<std::int64_t>>{7});
  const State state = all->open(0);
  REQUIRE(state.records.size() == 3);
  for (const Record& record : state.records) {
    const auto expected = record.kind == Kind::main_grad     ? Phase::sync
                          : record.kind == Kind::grad_output ? Phase::backward
                                                             : Phase::forward;
    CHECK(record.identity.phase == expected);
  }
  for (const char* part : {"wgrads", "wgrads/iter_0000007"}) {
    const Result<Run> one = open(dir.path(part));
    REQUIRE(one);
    CHECK(one->format == "megatron-dump");
    CHECK(one->steps == std::vector<std::optional<std::int64_t>>{7});
    CHECK(one->open(0).records.size() == 1);
  }
}

TEST_CASE("stages and experts count their layers and experts on") {
  const TempDir stages, experts;
  const auto layer = [](int number) {
    return "module.module.decoder.layers." + std::to_string(number) + ".mlp/output0";
  };
  stages.write("activations/iter_0000001/mp_rank_00_000.pth", chunk_of(layer(1), block(0, 2, 3)));
  stages.write("activations/iter_0000001/mp_rank_00_001.pth", chunk_of(layer(0), block(0, 2, 3)));
  const State state = open(stages.path())->open(0);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[0].identity.name == "decoder.layers.1.mlp/output0");
  CHECK(state.records[1].identity.name == "decoder.layers.2.mlp/output0");
  for (const int rank : {0, 1}) {
    experts.write("wgrads/iter_0000001/mp_rank_00_00" + std::to_string(rank) + ".pth",
                  tests::archive(dict(
                      {{"model_chunk0",
                        dict({{"embedding.word_embeddings.weight", block(0, 2, 3)},
                              {"decoder.layers.0.mlp.experts.local_experts.0.linear_fc1.weight",
                               block(3 * rank, 2, 3)}})}})));
  }
  const Result<Run> run = open(experts.path());
  REQUIRE(run);
  const State both = run->open(0);
  REQUIRE(both.records.size() == 4);
  CHECK(both.records[3].identity.name ==
        "decoder.layers.0.mlp.experts.local_experts.1.linear_fc1.weight");
}

TEST_CASE("a rank that is not there, and one that cannot be read, are said") {
  const TempDir dir;
  dir.write("wgrads/iter_0000001/mp_rank_00_000.pth", chunk_of("a.weight", block(0, 2, 3)));
  dir.write("wgrads/iter_0000001/mp_rank_01_001.pth", "no archive");
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  const State state = run->open(0);
  CHECK(state.unreadable >= 1);
  CHECK(state.missing_ranks.size() == 2);
}

TEST_CASE("TransformerEngine's files tell layer from tensor by the last word") {
  const TempDir dir, other;
  for (const TempDir* one : {&dir, &other}) {
    const std::int64_t from = one == &dir ? 0 : 1;
    for (const char* word : {"activation", "wgrad"}) {
      one->write("tensor_dumps/rank_0/iter_000003/a_b_" + std::string(word) + ".pt",
                 tests::archive(dict(
                     {{"high_precision", block(std::string(word) == "wgrad" ? from : 0, 2, 3)}})));
    }
  }
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(run->format == "te-dump");
  CHECK(run->steps == std::vector<std::optional<std::int64_t>>{3});
  const State state = run->open(0);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[0].identity.name == "a_b/activation");
  CHECK(state.records[1].identity.name == "a_b/wgrad");
  CHECK(state.records[1].kind == Kind::grad);
  CHECK(open(dir.path("tensor_dumps"))->open(0).records.size() == 2);
  const Verdict verdict = diff_of(dir.path(), other.path());
  CHECK(verdict.outcome == Outcome::diverged);
  REQUIRE(verdict.first);
  CHECK(verdict.first->tensor == "a_b/wgrad");
}

}  // namespace
}  // namespace ttcheck::formats
