// SPDX-License-Identifier: Apache-2.0
// Llama as Meta's model-parallel ranks save it: how each tensor is cut follows from its shape.

#include "formats/rank_files/meta.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "formats/open.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

namespace fs = std::filesystem;
using tests::TempDir;

Run opened(const std::string& path) {
  Result<Run> run = open(path, {});
  if (!run) FAIL(run.error().what());
  return std::move(*run);
}

/// How each tensor of the run is placed; empty: by nothing.
std::map<std::string, std::string> placements(const Run& run) {
  std::map<std::string, std::string> all;
  for (const Record& record : run.open(0).records) {
    all[record.identity.name] = record.placement ? to_string(*record.placement) : "";
  }
  return all;
}

std::string copied(const TempDir& dir, const std::string& sample, const std::string& name) {
  fs::copy(fs::path("samples/meta") / sample, dir.path(name));
  return dir.path(name);
}

void write_params(const std::string& folder, const std::string& text) {
  std::ofstream(fs::path(folder) / "params.json") << text;
}

TEST_CASE("meta: cuts by shape, of an embedding by columns or by rows") {
  const auto older = placements(opened("samples/meta/llama2"));
  const auto newer = placements(opened("samples/meta/llama3"));
  CHECK(older.at("tok_embeddings.weight") == "x y[tp:even]");
  CHECK(newer.at("tok_embeddings.weight") == "x[tp:even] *");
  CHECK(older.at("rope.freqs") == "*");
  for (const auto& all : {older, newer}) {
    CHECK(all.at("output.weight") == "x[tp:even] *");
    CHECK(all.at("norm.weight") == "*");
    CHECK(all.at("layers.1.attention.wk.weight") == "x[tp:even] *");
    CHECK(all.at("layers.1.attention.wo.weight") == "x y[tp:even]");
    CHECK(all.at("layers.1.feed_forward.w1.weight") == "x[tp:even] *");
    CHECK(all.at("layers.1.feed_forward.w2.weight") == "x y[tp:even]");
    CHECK(all.at("layers.1.ffn_norm.weight") == "*");
  }
}

TEST_CASE("meta: what the parameters say are facts of the model") {
  const Run run = opened("samples/meta/llama3");
  CHECK(run.format == "rank-files");
  CHECK(run.mesh.axes == std::vector<Axis>{{"tp", 2}});
  for (const auto& [name, value] : {std::pair("model.heads", 4),
                                    {"model.kv_heads", 2},
                                    {"model.ffn", 6},
                                    {"model.vocab", 10}}) {
    const Fact* fact = find_fact(run.facts, name);
    REQUIRE(fact != nullptr);
    CHECK(fact->value == FactValue(std::int64_t{value}));
    CHECK(fact->use == FactUse::compared);
  }
  CHECK(find_fact(opened("samples/meta/llama2").facts, "model.vocab") == nullptr);
}

TEST_CASE("meta: a rank that is not there is known from the shapes of the others") {
  for (const int lost : {0, 1}) {
    const TempDir dir;
    const std::string at = copied(dir, "llama2", "x");
    fs::remove(fs::path(at) / ("consolidated.0" + std::to_string(lost) + ".pth"));
    const Run run = opened(at);
    CHECK(run.mesh.world_size() == 2);
    CHECK(run.open(0).missing_ranks == std::vector<std::int32_t>{lost});
  }
}

TEST_CASE("meta: files beyond the ranks that the shapes say are not read") {
  const TempDir dir;
  const std::string at = copied(dir, "llama2", "x");
  fs::copy(fs::path(at) / "consolidated.01.pth", fs::path(at) / "consolidated.02.pth");
  const Run run = opened(at);
  CHECK(run.mesh.world_size() == 2);
  CHECK(std::ranges::count(run.findings, Code::unreadable, &Finding::code) == 1);
}

TEST_CASE("meta: shapes that the parameters do not explain are placed by nothing") {
  const TempDir dir;
  const std::string at = copied(dir, "llama2", "x");
  write_params(at, R"({"dim":8,"n_layers":2,"n_heads":4,"n_kv_heads":3,"multiple_of":2,)"
                   R"("ffn_dim_multiplier":0.3,"vocab_size":10})");
  const Run run = opened(at);
  CHECK(std::ranges::count(run.findings, Code::shape_or_dtype, &Finding::code) == 1);
  const State state = run.open(0);
  CHECK(state.unreadable == 4);
  CHECK(std::ranges::none_of(state.records, [](const Record& record) {
    return record.identity.name.ends_with("wk.weight");
  }));
}

TEST_CASE("meta: parameters that cannot be those of a model") {
  for (const char* text :
       {"{}", "[]", R"({"dim":8})", R"({"dim":0,"n_heads":4})", R"({"dim":8,"n_heads":-4})",
        R"({"dim":"8","n_heads":4})", R"({"dim":9223372036854775807,"n_heads":4})",
        R"({"dim":8,"n_heads":4,"multiple_of":2,"ffn_dim_multiplier":1e300})", "{"}) {
    CAPTURE(text);
    const TempDir dir;
    const std::string at = copied(dir, "llama3", "x");
    write_params(at, text);
    CHECK_FALSE(open(at, {}).has_value());
  }
}

}  // namespace
}  // namespace ttcheck::formats
