// SPDX-License-Identifier: Apache-2.0
// Faults of sharded checkpoints, format by format: what is said of each, and how many tensors can
// still be compared.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/assemble/assemble.hpp"
#include "formats/open.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/distributed_pickle.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::DcpWriter;
using tests::TempDir;
using tests::torch_archive;
using Write = std::function<void(const TempDir&)>;

struct Fault {
  const char* what;
  Write spoil;
  Code code;
  std::size_t tensors;  ///< that are left
};

struct Seen {
  std::vector<Code> codes;  ///< of errors and warnings
  std::size_t tensors = 0;
};

Seen look(const TempDir& dir) {
  Result<Run> run = open(dir.path());
  if (!run) FAIL(run.error().what());
  State state = run->open(0);
  Seen seen;
  const auto take = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      if (finding.severity != Severity::note) seen.codes.push_back(finding.code);
    }
  };
  take(run->findings);
  take(state.findings);
  const auto assembly = assemble::assemble(std::move(state), run->mesh, {});
  take(assembly.findings);
  seen.tensors = assembly.tensors.size();
  return seen;
}

void check(const Write& write, std::size_t whole, const std::vector<Fault>& faults) {
  const TempDir healthy;
  write(healthy);
  CHECK(look(healthy).codes.empty());
  CHECK(look(healthy).tensors == whole);
  for (const Fault& fault : faults) {
    CAPTURE(fault.what);
    const TempDir dir;
    write(dir);
    fault.spoil(dir);
    const Seen seen = look(dir);
    CHECK(std::ranges::count(seen.codes, fault.code) > 0);
    CHECK(seen.tensors == fault.tensors);
  }
}

Write removed(const std::string& name) {
  return [name](const TempDir& dir) { std::filesystem::remove(dir.path(name)); };
}

Write cut(const std::string& name, std::uintmax_t left) {
  return [name, left](const TempDir& dir) { std::filesystem::resize_file(dir.path(name), left); };
}

Write written(const std::string& name, const std::string& content) {
  return [name, content](const TempDir& dir) { dir.write(name, content); };
}

Write swapped(const std::string& one, const std::string& other) {
  return [one, other](const TempDir& dir) {
    std::filesystem::rename(dir.path(one), dir.path("aside"));
    std::filesystem::rename(dir.path(other), dir.path(one));
    std::filesystem::rename(dir.path("aside"), dir.path(other));
  };
}

/// Two ranks: `a` is cut in rows, each has a tensor of its own behind its part.
struct Distributed {
  explicit Distributed(std::int64_t rows = 4) {
    const auto length = static_cast<std::int64_t>(item.size());
    table.tensor("model.a", {rows, 2},
                 {{{0, 0}, {2, 2}, {"__0_0.distcp", 0, length}},
                  {{2, 0}, {2, 2}, {"__1_0.distcp", 0, length}}});
    table.tensor("model.b", {2, 2}, {{{0, 0}, {2, 2}, {"__0_0.distcp", length, length}}});
    table.tensor("model.c", {2, 2}, {{{0, 0}, {2, 2}, {"__1_0.distcp", length, length}}});
  }
  void write(const TempDir& dir) const {
    dir.write(".metadata", table.bytes());
    for (const char* name : {"__0_0.distcp", "__1_0.distcp"}) dir.write(name, item + item);
  }

  std::string item = DcpWriter::chunk({2, 2}, {1, 2, 3, 4});
  DcpWriter table;
};

TEST_CASE("faults of a distributed checkpoint") {
  const Distributed healthy;
  const std::string& item = healthy.item;
  Distributed unplaced;
  unplaced.table.tensor("model.d", {2, 2}, {{{0, 0}, {2, 2}, {}, false}});
  Distributed beyond;
  beyond.table.tensor("model.d", {2, 2}, {{{0, 0}, {2, 2}, {"__1_0.distcp", 1 << 20, 64}}});
  const std::string of_another_step = item + item + item;
  check(
      [&](const TempDir& dir) { healthy.write(dir); }, 3,
      {{"a data file is missing", removed("__1_0.distcp"), Code::missing_rank, 2},
       {"a data file is cut", cut("__1_0.distcp", item.size() + 40), Code::unreadable, 2},
       {"a data file is of another save", written("__1_0.distcp", of_another_step), Code::torn, 3},
       {"the table is missing", removed(".metadata"), Code::torn, 0},
       {"the table has no place for a tensor", written(".metadata", unplaced.table.bytes()),
        Code::omission, 3},
       {"the table has a place behind the file", written(".metadata", beyond.table.bytes()),
        Code::unreadable, 3},
       {"chunks do not fill their tensor", written(".metadata", Distributed(6).table.bytes()),
        Code::omission, 3}});
}

std::string rank_name(std::string_view role, int rank) {
  return std::string(role) + "_world_size_2_rank_" + std::to_string(rank);
}

std::string part() {
  return dtensor(numbers({4, 2}), mesh({{2, 1}}, tuple({text("dp")}), 2), tuple({shard(0)}),
                 tensor({}));
}

std::string saved(const std::string& object, const std::string& name) {
  return torch_archive(object, tests::kStorage, {}, name);
}

std::string optimizer(int rank, std::int64_t step) {
  const std::string state =
      "}(" + integer(0) + dict({{"exp_avg", part()}, {"step", integer(step)}}) + "u";
  const std::string group = dict({{"params", list({integer(0)})}});
  return saved(dict({{"state", state}, {"param_groups", list({group})}}), rank_name("optim", rank));
}

void write_rank_files(const TempDir& dir) {
  for (int rank = 0; rank < 2; ++rank) {
    const std::string name = rank_name("model", rank);
    dir.write(name + ".pt", saved(dict({{"w", part()}}), name));
    dir.write(rank_name("optim", rank) + ".pt", optimizer(rank, 3));
    dir.write(rank_name("extra_state", rank) + ".pt",
              torch_archive(dict({{"last_epoch", integer(3)}, {"rng", tensor({})}})));
  }
}

TEST_CASE("faults of FSDP's rank files") {
  const std::string model = rank_name("model", 1) + ".pt";
  check(
      write_rank_files, 2,
      {{"a model file is missing", removed(model), Code::missing_rank, 2},
       {"an optimizer's file is missing", removed(rank_name("optim", 0) + ".pt"),
        Code::missing_rank, 2},
       {"a file of generators is missing", removed(rank_name("extra_state", 0) + ".pt"),
        Code::missing_rank, 2},
       {"files are exchanged", swapped(rank_name("model", 0) + ".pt", model), Code::mixed_step, 2},
       {"a file is of another step",
        written(rank_name("extra_state", 1) + ".pt",
                torch_archive(dict({{"last_epoch", integer(4)}, {"rng", tensor({})}}))),
        Code::mixed_step, 2},
       {"a file is cut", cut(model, 40), Code::unreadable, 2}});
}

void write_trainer(const TempDir& dir) {
  dir.write("model.safetensors",
            tests::safetensors_of(
                R"({"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "aaaabbbb"));
  dir.write("trainer_state.json", R"({"global_step": 4})");
  const std::string moment = tensor({.size = {2}, .stride = {1}});
  const std::string state = "}(" + integer(0) + dict({{"exp_avg", moment}}) + "u";
  const std::string group = dict({{"params", list({integer(0)})}});
  dir.write("optimizer.pt",
            torch_archive(dict({{"state", state}, {"param_groups", list({group})}})));
  for (const char* name : {"rng_state_0.pth", "rng_state_1.pth", "scheduler.pt"}) {
    dir.write(name, torch_archive(dict({{"state", tensor({})}})));
  }
}

TEST_CASE("faults of a Trainer's checkpoint") {
  check(write_trainer, 2,
        {{"the optimizer is missing", removed("optimizer.pt"), Code::omission, 1},
         {"the scheduler is missing", removed("scheduler.pt"), Code::omission, 2},
         {"a rank's generators are missing", removed("rng_state_0.pth"), Code::missing_rank, 2},
         {"the optimizer is cut", cut("optimizer.pt", 40), Code::unreadable, 1}});
}

}  // namespace
}  // namespace ttcheck::formats
