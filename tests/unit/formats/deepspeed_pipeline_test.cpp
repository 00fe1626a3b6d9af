// Pipelines without names of their parameters: layers by stage, and what ds_to_universal leaves.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "formats/formats.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::ModelStates;
using tests::row;
using tests::TempDir;
namespace pickled = tests::pickled;

struct Opened {
  explicit Opened(const std::string& path) {
    Result<Run> found = open(path);
    if (!found) throw found.error();
    run = std::move(*found);
    state = run.open(0);
  }

  std::vector<const Record*> of(std::string_view name) const {
    std::vector<const Record*> found;
    for (const Record& record : state.records) {
      if (record.identity.name == name) found.push_back(&record);
    }
    return found;
  }

  bool says(Code code) const {
    return std::ranges::count(state.findings, code, &Finding::code) > 0;
  }

  Run run;
  State state;
};

constexpr const char* kModel = "tag/mp_rank_00_model_states.pt";

float first_float(const Record& record) {
  std::byte bytes[4];
  record.piece.source->read(record.piece.offset, bytes);
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

TEST_CASE("deepspeed: ZeRO 0, the layers of a pipeline are dealt out to its stages") {
  const TempDir folder;
  ModelStates model;
  model.module = model.shapes = "N";
  model.stage = 0;
  model.ranks = 1;
  model.mp = 2;
  const auto write = [&](const char* name, std::int64_t first, std::int64_t second) {
    const auto moment = [](std::int64_t at, std::int64_t count) {
      return pickled::dict({{"exp_avg", row(at, count)}});
    };
    model.optimizer = tests::base_state(moment(first, 3), moment(second, 2));
    folder.write(name, model.file());
  };
  write(kModel, 20, 30);
  write("tag/mp_rank_01_model_states.pt", 20, 40);  // the first layer is tied
  folder.write("tag/layer_00-model_states.pt", archive(pickled::dict({{"weight", row(0, 3)}})));
  folder.write("tag/layer_01-model_states.pt", archive(pickled::dict({{"weight", row(3, 2)}})));
  folder.write("tag/layer_02-model_states.pt", archive(pickled::dict({{"weight", row(5, 2)}})));
  const Opened made(folder.path("tag"));
  CHECK(made.of("0.weight@exp_avg").size() == 2);
  REQUIRE(made.of("1.weight@exp_avg").size() == 1);
  CHECK(first_float(*made.of("1.weight@exp_avg")[0]) == 30);
  REQUIRE(made.of("2.weight@exp_avg").size() == 1);
  CHECK(first_float(*made.of("2.weight@exp_avg")[0]) == 40);
  CHECK(made.of("2.weight@exp_avg")[0]->piece.rank == 1);
  std::filesystem::remove(folder.path(kModel));
  const Opened half(folder.path("tag"));
  CHECK(half.of("1.weight@exp_avg").empty());
  CHECK(half.says(Code::name_mapping));
}

TEST_CASE("deepspeed-universal: of a pipeline there are masters alone") {
  const TempDir folder;
  ModelStates model;
  model.module = "N";
  folder.write(kModel, model.file());
  for (const char* name : {"a", "b"}) {
    folder.write(std::string("tag/zero/") + name + "/fp32.pt",
                 archive(row(0, *name == 'a' ? 6 : 3)));
  }
  const Opened made(folder.path("tag"));
  CHECK(made.of("a@master").size() == 1);
  CHECK_FALSE(made.says(Code::omission));
}

}  // namespace
}  // namespace ttcheck::formats
