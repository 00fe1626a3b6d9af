// SPDX-License-Identifier: Apache-2.0
// Directories through the door: Hugging Face folders, series, folders of files, parents of a run.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "formats/folder/shard_name.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::small_safetensors;
using tests::TempDir;
namespace fs = std::filesystem;

Run opened(const std::string& path) {
  Result<Run> run = open(path);
  if (!run) throw run.error();
  return std::move(*run);
}

std::vector<std::string> names_of(const State& state) {
  std::vector<std::string> names;
  for (const Record& record : state.records) names.push_back(record.identity.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool mentions(const std::vector<Finding>& findings, Code code, std::string_view text) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.code == code && (finding.message.find(text) != std::string::npos ||
                                    (finding.where && finding.where->file.ends_with(text)));
  });
}

using Names = std::vector<std::string>;

/// A model in two shards, with an index of these entries.
void write_sharded(const TempDir& directory, const std::string& map) {
  directory.write("model-00001-of-00002.safetensors", small_safetensors("a"));
  directory.write("model-00002-of-00002.safetensors", small_safetensors("b"));
  directory.write("model.safetensors.index.json", "{\"weight_map\":{" + map + "}}");
}

constexpr std::string_view kGoodMap =
    R"("a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors")";

TEST_CASE("hf: shards with an index") {
  const TempDir directory;
  write_sharded(directory, std::string(kGoodMap));
  directory.write("config.json", R"({"model_type":"llama","num_attention_heads":6,)"
                                 R"("num_key_value_heads":2,"rms_norm_eps":1e-06,"vocab_size":131,)"
                                 R"("rope_parameters":{"rope_theta":10000},"pad":null,)"
                                 R"("tie_word_embeddings":false,"dtype":"float32"})");
  Run run = opened(directory.path());
  CHECK(run.format == "hf");
  const State state = run.open(0);
  CHECK(names_of(state) == Names{"a", "b"});
  CHECK(state.findings.empty());
  CHECK(state.unreadable == 0);
  CHECK(state.bytes_unclaimed == 0);
  CHECK(std::get<std::int64_t>(find_fact(run.facts, "model.kv_heads")->value) == 2);
  CHECK(std::get<double>(find_fact(run.facts, "model.rope_theta")->value) == 10000.0);
  CHECK(std::get<bool>(find_fact(run.facts, "model.tied_embeddings")->value) == false);
  CHECK(find_fact(run.facts, "config.dtype")->use == FactUse::note);
  CHECK(find_fact(run.facts, "model.norm_eps")->where.offset.has_value());
  CHECK(run.close().empty());
  directory.write("model-00002-of-00002.safetensors", small_safetensors("b") + "!");
  CHECK(mentions(run.close(), Code::unreadable, "model-00002-of-00002.safetensors"));
}

TEST_CASE("hf: a single file beside an index is what loaders take") {
  const TempDir directory;
  write_sharded(directory, std::string(kGoodMap));
  directory.write("model.safetensors", small_safetensors("whole"));
  const State state = opened(directory.path()).open(0);
  CHECK(names_of(state) == Names{"whole"});
  CHECK(mentions(state.findings, Code::overlap, "model.safetensors"));
  CHECK(mentions(state.findings, Code::overlap, "index.json and 2 numbered shards are here too"));
  const TempDir other;  // of diffusers
  other.write("diffusion_pytorch_model-00001-of-00001.safetensors", small_safetensors("a"));
  other.write("diffusion_pytorch_model.safetensors.index.json",
              R"({"weight_map":{"a":"diffusion_pytorch_model-00001-of-00001.safetensors"}})");
  other.write("diffusion_pytorch_model.safetensors", small_safetensors("whole"));
  CHECK(names_of(opened(other.path()).open(0)) == Names{"a"});
}

TEST_CASE("hf: a damaged config or index is told, weights are read") {
  const TempDir directory;
  write_sharded(directory, std::string(kGoodMap));
  directory.write("config.json", "{\"hidden_size\":");
  Run run = opened(directory.path());
  CHECK(mentions(run.findings, Code::unreadable, "config.json"));
  CHECK(names_of(run.open(0)) == Names{"a", "b"});
  directory.write("config.json", "{}");
  directory.write("model.safetensors.index.json", "{\"weight_map\":{");
  const State state = opened(directory.path()).open(0);
  CHECK(mentions(state.findings, Code::unreadable, "model.safetensors.index.json"));
  CHECK(names_of(state) == Names{"a", "b"});
}

TEST_CASE("ST16 index: names that lead elsewhere, missing shards, strays") {
  const TempDir directory;
  directory.write("secret.safetensors", small_safetensors("s"));
  const auto state_of = [](const std::string& map, bool with_second = true) {
    const TempDir model;
    write_sharded(model, map);
    if (!with_second) fs::remove(model.path("model-00002-of-00002.safetensors"));
    return opened(model.path()).open(0);
  };
  const std::string first = R"("a":"model-00001-of-00002.safetensors",)";
  for (const std::string path : {"../secret.safetensors", "/etc/passwd", "./x", ""}) {
    const State state = state_of(first + "\"b\":\"" + path + "\"");
    CHECK(mentions(state.findings, Code::unreadable, "no path inside the directory"));
    CHECK(state.unreadable == 1);
    CHECK(names_of(state) == Names{"a"});
  }
  const State gone = state_of(std::string(kGoodMap), false);
  CHECK(mentions(gone.findings, Code::unreadable, "model-00002-of-00002.safetensors"));
  CHECK(gone.unreadable == 1);
  CHECK(names_of(gone) == Names{"a"});
  const State absent =
      state_of(std::string(kGoodMap) + R"(,"c":"model-00002-of-00002.safetensors")");
  CHECK(mentions(absent.findings, Code::omission, "where it is not"));
  const State exchanged =
      state_of(R"("b":"model-00001-of-00002.safetensors","a":"model-00002-of-00002.safetensors")");
  CHECK(mentions(exchanged.findings, Code::omission, "where it is not: it is in"));
  CHECK(!mentions(exchanged.findings, Code::overlap, ""));
  CHECK(names_of(exchanged) == Names{"a", "b"});
  CHECK(absent.unreadable == 1);
  const State unlisted = state_of(R"("a":"model-00001-of-00002.safetensors",)"
                                  R"("c":"model-00002-of-00002.safetensors")");
  CHECK(mentions(unlisted.findings, Code::unexpected, "does not list"));
  CHECK(names_of(unlisted) == Names{"a", "b"});
  const State twice = state_of(R"("a":"model-00002-of-00002.safetensors",)"
                               R"("b":"model-00002-of-00002.safetensors",)"
                               R"("x":"model-00001-of-00002.safetensors")");
  CHECK(mentions(twice.findings, Code::omission, "it is in model-00001"));
  const TempDir both;
  write_sharded(both, R"("a":"model-00002-of-00002.safetensors",)"
                      R"("x":"model-00001-of-00002.safetensors")");
  both.write("model-00002-of-00002.safetensors", small_safetensors("a"));
  CHECK(mentions(opened(both.path()).open(0).findings, Code::overlap,
                 "the tensor is in model-00001"));
  const State same_key = state_of(first + first + R"("b":"model-00002-of-00002.safetensors")");
  CHECK(mentions(same_key.findings, Code::unreadable, "lists this tensor twice"));
}

TEST_CASE("ST16 index: keys that are there twice, in it and in its metadata") {
  const TempDir model;
  write_sharded(model, std::string(kGoodMap));
  model.write("model.safetensors.index.json",
              "{\"metadata\":{\"total_size\":1,\"total_size\":2},\"weight_map\":{" +
                  std::string(kGoodMap) + "},\"weight_map\":{}}");
  const State state = opened(model.path()).open(0);
  CHECK(mentions(state.findings, Code::unreadable, "the key weight_map twice"));
  CHECK(mentions(state.findings, Code::unreadable, "the key total_size twice"));
  CHECK(names_of(state) == Names{"a", "b"});
}

TEST_CASE("ST16 FS12 an index that names a link out of the directory") {
  const TempDir directory;
  const TempDir outside;
  const std::string secret = outside.write("secret.safetensors", small_safetensors("b"));
  write_sharded(directory, std::string(kGoodMap));
  fs::remove(directory.path("model-00002-of-00002.safetensors"));
  fs::create_symlink(secret, directory.path("model-00002-of-00002.safetensors"));
  const State state = opened(directory.path()).open(0);
  CHECK(mentions(state.findings, Code::unreadable, "leads out of the run"));
  CHECK(names_of(state) == Names{"a"});
  Result<Run> followed = open(directory.path(), {{}, true});
  REQUIRE(followed.has_value());
  CHECK(names_of(followed->open(0)) == Names{"a", "b"});
}

TEST_CASE("hf: a damaged shard costs its tensors, not the run") {
  const TempDir directory;
  write_sharded(directory, std::string(kGoodMap));
  directory.write("model-00002-of-00002.safetensors", "garbage");
  const State state = opened(directory.path()).open(0);
  CHECK(mentions(state.findings, Code::unreadable, "model-00002-of-00002.safetensors"));
  CHECK(names_of(state) == Names{"a"});
  directory.write("model-00001-of-00002.safetensors", "");
  CHECK_FALSE(open(directory.path()).has_value());
}

TEST_CASE("hub: a snapshot, its model folder and the cache itself open; two snapshots do not") {
  const TempDir cache;
  const std::string model = "models--acme--tiny/";
  cache.write(model + "blobs/1", small_safetensors());
  cache.write(model + "blobs/2", "{}");
  cache.write(model + "refs/main", "abc");
  const std::string snapshot = cache.path(model + "snapshots/abc");
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/1", snapshot + "/model.safetensors");
  fs::create_symlink("../../blobs/2", snapshot + "/config.json");
  for (const std::string& path : {snapshot, cache.path(model), cache.path()}) {
    Run run = opened(path);
    CHECK(run.format == "hf");
    CHECK(names_of(run.open(0)) == Names{"w"});
  }
  fs::create_directories(cache.path(model + "snapshots/def"));
  const Result<Run> two = open(cache.path(model));
  REQUIRE_FALSE(two.has_value());
  CHECK(two.error().message() ==
        "several runs could be meant, name one: snapshots/abc, snapshots/def");
}

TEST_CASE("series: steps in order, opened one by one, trackers checked") {
  const TempDir directory;
  for (const int step : {2, 10, 1}) {
    directory.write(fmt::format("step-{}/m.safetensors", step),
                    small_safetensors(fmt::format("w{}", step)));
  }
  directory.write("latest", "step-12\n");
  Run run = opened(directory.path());
  CHECK(run.format == "safetensors");
  CHECK(run.steps == std::vector<std::optional<std::int64_t>>{1, 2, 10});
  const State state = run.open(1);
  CHECK(state.step == 2);
  CHECK(names_of(state) == Names{"w2"});
  CHECK(std::get<std::string>(find_fact(run.facts, "tracker.latest")->value) == "step-12");
  CHECK(mentions(run.findings, Code::torn, "names step 12"));
  directory.write("step-2/m.safetensors", "");
  CHECK(mentions(run.close(), Code::unreadable, "m.safetensors"));
  Run again = opened(directory.path());
  CHECK_THROWS_AS(again.open(1), Error);
  CHECK(names_of(again.open(0)) == Names{"w1"});
  directory.write("step_2/m.safetensors", small_safetensors());
  CHECK_FALSE(open(directory.path()).has_value());
}

TEST_CASE("series: one step, and a damaged newest one") {
  const TempDir directory;
  directory.write("iter_0000010/m.safetensors", small_safetensors());
  CHECK(opened(directory.path()).steps == std::vector<std::optional<std::int64_t>>{10});
  directory.write("iter_0000020/m.safetensors", "x");
  Run run = opened(directory.path());
  CHECK(run.steps.size() == 2);
  CHECK_THROWS_WITH_AS(run.open(1), doctest::Contains("m.safetensors"), Error);
}

TEST_CASE("series: a model of the directory itself is a state beside the steps") {
  const TempDir directory;
  for (const char* folder : {"checkpoint-1/", "checkpoint-2/", "final/", ""}) {
    directory.write(std::string(folder) + "config.json", "{}");
    directory.write(std::string(folder) + "model.safetensors", small_safetensors());
  }
  directory.write("ema.safetensors", small_safetensors());
  Run run = opened(directory.path());
  CHECK(run.format == "hf");
  CHECK(run.steps == std::vector<std::optional<std::int64_t>>{1, 2});
  Names named;
  for (const NamedState& one : run.named) named.push_back(one.name);
  CHECK(named == Names{"root", "ema.safetensors", "final"});
  const Run root = run.named.front().open();
  CHECK(root.steps == std::vector<std::optional<std::int64_t>>{std::nullopt});
  CHECK(names_of(root.open(0)) == Names{"w"});
  CHECK(run.close().empty());
}

TEST_CASE("series: files that only a number tells hold one model, with names") {
  const TempDir directory;
  directory.write("model_1.safetensors", small_safetensors());
  directory.write("model_2.safetensors", small_safetensors());
  CHECK(opened(directory.path()).steps == std::vector<std::optional<std::int64_t>>{1, 2});
  directory.write("model_3.safetensors", small_safetensors("other"));
  CHECK(names_of(opened(directory.path()).open(0)).front() == "model_1.w");
}

TEST_CASE("series: files of one step are its parts") {
  const TempDir directory;
  for (const char* name : {"netG_1", "netG_2", "netD_1", "netD_2"}) {
    directory.write(std::string(name) + ".safetensors", small_safetensors());
  }
  Run run = opened(directory.path());
  CHECK(run.steps.size() == 2);
  CHECK(names_of(run.open(1)) == Names{"netD.w", "netG.w"});
}

TEST_CASE("names of steps") {
  CHECK(step_of_name("checkpoint-500", true) == 500);
  CHECK(step_of_name("checkpoint_0", true) == 0);
  CHECK(step_of_name("global_step7", true) == 7);
  CHECK(step_of_name("global_step_7", true) == 7);
  CHECK(step_of_name("iter_0000012", true) == 12);
  CHECK(step_of_name("step-000001", true) == 1);
  CHECK(step_of_name("12", true) == 12);
  CHECK(step_of_name("step3.pt", false) == 3);
  CHECK(step_of_name("epoch=1-step=40.ckpt", false) == 40);
  CHECK(step_of_name("epoch=1-step=40.ckpt", true) == 40);
  for (const std::string_view name : {"12.pt", "step-3.npy", "step", "stepping", "step-3x.pt",
                                      "step-99999999999999999999.pt", "README"}) {
    CHECK_FALSE_MESSAGE(step_of_name(name, false).has_value(), name);
  }
  CHECK_FALSE(step_of_name("run12", true).has_value());
  CHECK_FALSE(step_of_name("-5", true).has_value());
  CHECK(trailing_number("global_step10") == 10);
  CHECK_FALSE(trailing_number("release").has_value());
}

TEST_CASE("folder: independent files are told apart by their stems, shards are not") {
  const TempDir directory;
  directory.write("a.safetensors", small_safetensors());
  CHECK(names_of(opened(directory.path()).open(0)) == Names{"w"});
  directory.write("b.safetensors", small_safetensors());
  directory.write("notes.md", "12345");
  Run run = opened(directory.path());
  CHECK(run.format == "safetensors");
  const State state = run.open(0);
  CHECK(names_of(state) == Names{"a.w", "b.w"});
  CHECK(state.bytes_unclaimed == 5);
  directory.write("c.safetensors", "");
  CHECK(mentions(opened(directory.path()).open(0).findings, Code::unreadable, "c.safetensors"));
  const TempDir shards;
  shards.write("x-00001-of-00003.safetensors", small_safetensors("a"));
  shards.write("x-00003-of-00003.safetensors", small_safetensors("c"));
  const State some = opened(shards.path()).open(0);
  CHECK(names_of(some) == Names{"a", "c"});
  CHECK(mentions(some.findings, Code::unreadable, "x-00002-of-00003.safetensors"));
}

TEST_CASE("parents: one run below opens, several are listed") {
  const TempDir directory;
  directory.write("out/run/m.safetensors", small_safetensors());
  directory.write("readme.txt", "x");
  CHECK(names_of(opened(directory.path()).open(0)) == Names{"w"});
  directory.write("other/m.safetensors", small_safetensors());
  const Result<Run> two = open(directory.path());
  REQUIRE_FALSE(two.has_value());
  CHECK(two.error().message().find("other, out") != std::string::npos);
  OpenOptions both;
  both.several = true;
  Result<Run> side_by_side = open(directory.path(), both);
  REQUIRE(side_by_side.has_value());
  CHECK(side_by_side->several);
  CHECK(side_by_side->steps.empty());
  REQUIRE(side_by_side->named.size() == 2);
  CHECK(side_by_side->named[0].name == "other");
  CHECK(names_of(side_by_side->named[0].open().open(0)) == Names{"w"});
  directory.write("m.safetensors", small_safetensors("m"));
  Run beside = opened(directory.path());
  CHECK(names_of(beside.open(0)) == Names{"m"});
  REQUIRE(beside.named.size() == 2);
  CHECK(beside.named[1].name == "out");
}

TEST_CASE("nothing known: what was seen and tried is said") {
  const TempDir directory;
  const Result<Run> unknown = open(directory.write("f", "hello"));
  REQUIRE_FALSE(unknown.has_value());
  CHECK(unknown.error().message().find("68 65 6c 6c 6f; man ttcheck-formats lists") !=
        std::string::npos);
  const Result<Run> empty = open(directory.write("e", ""));
  CHECK(empty.error().message() == "the file is empty");
  const TempDir none;
  CHECK(open(none.path()).error().message() == "the directory is empty");
  CHECK(open(none.path("gone")).error().message().find("No such file") != std::string::npos);
  const Result<Run> folder = open(directory.path());
  CHECK(folder.error().message().find("e of 0 bytes, f of 5 bytes") != std::string::npos);
}

TEST_CASE("numbered shards") {
  const auto shard = parse_shard_name("model-00002-of-00005.safetensors");
  REQUIRE(shard.has_value());
  CHECK(shard->number == 2);
  CHECK(shard->total == 5);
  CHECK(shard->with_number(1) == "model-00001-of-00005.safetensors");
  CHECK_FALSE(parse_shard_name("model-of-5").has_value());
  CHECK_FALSE(parse_shard_name("-of-").has_value());
  CHECK(missing_shards({"m-1-of-2.x"}) == Names{"m-2-of-2.x"});
  CHECK(missing_shards({"m-0-of-2.x", "m-1-of-2.x"}).empty());
  CHECK(missing_shards({"m-00001-of-99999999999.x"}).size() == 1000);
}

TEST_CASE("H8 a link to where it lies is no run, and two to one run are two ways to it") {
  const TempDir directory;
  fs::create_directory(directory.path("run"));
  directory.write("run/model.safetensors", small_safetensors("a"));
  directory.write("run/config.json", "{}");
  for (int n = 0; n < 40; ++n) {
    fs::create_directory_symlink(".", directory.path(fmt::format("loop{}", n)));
  }
  CHECK(opened(directory.path()).format == "hf");
  fs::create_directory_symlink("run", directory.path("same"));
  const Result<Run> two = open(directory.path());
  REQUIRE_FALSE(two);
  CHECK(std::string(two.error().what()).find("run, same") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::formats
