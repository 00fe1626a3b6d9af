// SPDX-License-Identifier: Apache-2.0
// A Trainer's or accelerate's directory in which FSDP's ranks or DeepSpeed wrote folders of their
// own.

#include "formats/hf/deepspeed_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "formats/open.hpp"
#include "tests/support/project_file.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::project_file;
using tests::TempDir;

void copy(std::string_view sample, const TempDir& dir, std::string_view to = {}) {
  std::filesystem::copy(project_file(sample), dir.path(to),
                        std::filesystem::copy_options::recursive);
}

Run opened(const TempDir& dir) {
  Result<Run> run = open(dir.path());
  if (!run) FAIL(run.error().what());
  return std::move(*run);
}

std::ptrdiff_t count(const State& state, Kind kind) {
  return std::ranges::count(state.records, kind, &Record::kind);
}

std::ptrdiff_t findings(const State& state, Code code) {
  return std::ranges::count(state.findings, code, &Finding::code);
}

TEST_CASE("DeepSpeed's folder is a part of the Trainer's checkpoint") {
  const TempDir dir;
  copy("samples/deepspeed/zero2", dir);
  const std::string whole = opened(dir).format;
  const State bare = opened(dir).open(0);
  dir.write("trainer_state.json", "{}");
  Run run = opened(dir);
  CHECK(whole == "deepspeed");
  CHECK(run.format == "hf-trainer");
  CHECK(!run.mesh.axes.empty());
  const State state = run.open(0);
  CHECK(state.records.size() == bare.records.size());
  CHECK(state.unreadable == 0);
  CHECK(findings(state, Code::unreadable) == 0);
  REQUIRE(find_fact(state.facts, "tracker.latest") != nullptr);
}

TEST_CASE("of a folder that accelerate calls pytorch_model, too") {
  const TempDir dir;
  copy("samples/deepspeed/zero2", dir);
  for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
    if (entry.is_directory()) std::filesystem::rename(entry.path(), dir.path("pytorch_model"));
  }
  dir.write("latest", "pytorch_model\n");
  std::filesystem::copy(project_file("samples/sharded/fsdp/checkpoint-2/rng_state_0.pth"),
                        dir.path("random_states_0.pkl"));
  Run run = opened(dir);
  CHECK(run.format == "hf-accelerate");
  CHECK(count(run.open(0), Kind::master) > 0);
}

TEST_CASE("a tracker that names no folder is a finding, and the last folder is read") {
  const TempDir dir;
  copy("samples/deepspeed/zero2", dir);
  dir.write("trainer_state.json", "{}");
  dir.write("latest", "global_step99");
  Run run = opened(dir);
  const State state = run.open(0);
  CHECK(findings(state, Code::torn) == 1);
  CHECK(count(state, Kind::master) > 0);
}

TEST_CASE("weights that lie in a file of their own are not taken from DeepSpeed") {
  const TempDir dir;
  copy("samples/deepspeed/zero2", dir);
  dir.write("trainer_state.json", "{}");
  Run alone = opened(dir);
  const State before = alone.open(0);
  const auto weight = std::ranges::find(before.records, Kind::weight, &Record::kind);
  REQUIRE(weight != before.records.end());
  const std::string name = weight->identity.name;
  dir.write(
      "model.safetensors", std::string("\x4c\0\0\0\0\0\0\0", 8) + [&] {
        std::string header =
            "{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
        header.resize(0x4c, ' ');
        return header;
      }() + std::string(4, '\0'));
  Run run = opened(dir);
  const State state = run.open(0);
  CHECK(std::ranges::count_if(state.records,
                              [&](const Record& one) { return one.identity.name == name; }) == 1);
  CHECK(count(state, Kind::master) == count(before, Kind::master));
}

TEST_CASE("FSDP's folders of a model and its optimizer are one checkpoint") {
  const TempDir dir;
  copy("samples/sharded/fsdp/checkpoint-2", dir);
  Run run = opened(dir);
  CHECK(run.format == "hf-trainer");
  const State state = run.open(0);
  CHECK(count(state, Kind::moment1) == count(state, Kind::weight));
  CHECK(state.findings.empty());
  CHECK(find_fact(state.facts, "optimizer.groups.0.lr") != nullptr);
  CHECK(find_fact(state.facts, "scheduler.last_epoch") != nullptr);
}

TEST_CASE("a further model's optimizer is named after it") {
  const TempDir dir;
  const std::string folder = "samples/sharded/fsdp/checkpoint-2/";
  for (const std::string part : {"pytorch_model_fsdp_", "optimizer_"}) {
    for (const std::string number : {"0", "1"}) copy(folder + part + "0", dir, part + number);
  }
  Run run = opened(dir);
  CHECK(run.format == "hf-accelerate");
  const State state = run.open(0);
  const auto of_second = std::ranges::count_if(state.records, [](const Record& one) {
    return one.identity.name.starts_with("model_1.") && one.kind == Kind::moment1;
  });
  CHECK(of_second * 2 == count(state, Kind::moment1));
  CHECK(find_fact(state.facts, "optimizer_1.groups.0.lr") != nullptr);
}

TEST_CASE("TT505 an optimizer's folder that is not there") {
  const TempDir dir;
  copy("samples/sharded/fsdp/checkpoint-2", dir);
  std::filesystem::remove_all(dir.path("optimizer_0"));
  const State state = opened(dir).open(0);
  CHECK(findings(state, Code::omission) == 1);
}

TEST_CASE("TT503 an optimizer's folder whose save was not finished") {
  const TempDir dir;
  copy("samples/sharded/fsdp/checkpoint-2", dir);
  std::filesystem::remove(dir.path("optimizer_0/.metadata"));
  const State state = opened(dir).open(0);
  CHECK(findings(state, Code::torn) == 1);
  CHECK(count(state, Kind::weight) > 0);
  CHECK(count(state, Kind::moment1) == 0);
}

TEST_CASE("what Lightning writes beside a distributed checkpoint is read with it") {
  const TempDir dir;
  copy("samples/sharded/lightning-fsdp.ckpt", dir);
  const State state = opened(dir).open(0);
  CHECK(state.findings.empty());
  CHECK(state.bytes_unclaimed == 0);
  const Fact* step = find_fact(state.facts, "global_step");
  REQUIRE(step != nullptr);
  CHECK(step->value == FactValue(std::int64_t{2}));
  dir.write("meta.pt", "PK");
  const State damaged = opened(dir).open(0);
  CHECK(findings(damaged, Code::unreadable) == 1);
  CHECK(damaged.records.size() == state.records.size());
}

}  // namespace
}  // namespace ttcheck::formats
