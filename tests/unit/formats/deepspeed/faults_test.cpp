// SPDX-License-Identifier: Apache-2.0
// One fault each in a tag directory that is otherwise whole: the code that names it, and how many
// tensors are compared all the same.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/diff.hpp"
#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::archive;
using tests::ModelStates;
using tests::moments;
using tests::OptimStates;
using tests::row;
using tests::scalar;
using tests::TempDir;
namespace pickled = tests::pickled;
namespace fs = std::filesystem;

std::string optimizer_name(int rank) {
  return "zero_pp_rank_" + std::to_string(rank) + "_mp_rank_00_optim_states";
}

std::string model_name(int rank) {
  return "zero_pp_rank_" + std::to_string(rank) + "_mp_rank_00_model_states";
}

constexpr const char* kModel = "mp_rank_00_model_states";

/// Files of one tag in a folder; names are stems.
struct Tag {
  const TempDir& folder;
  std::string name;

  std::string path(const std::string& stem) const { return folder.path(name + "/" + stem + ".pt"); }
  void write(const std::string& stem, const std::string& bytes) const {
    folder.write(name + "/" + stem + ".pt", bytes);
  }
  void remove(const std::string& stem) const { fs::remove(path(stem)); }
  void cut(const std::string& stem, std::uintmax_t bytes) const {
    fs::resize_file(path(stem), bytes);
  }
  void exchange(const std::string& a, const std::string& b) const {
    fs::rename(path(a), path("held"));
    fs::rename(path(b), path(a));
    fs::rename(path("held"), path(b));
  }
};

ModelStates model() {
  ModelStates made;
  made.stem = kModel;
  return made;
}

/// Rank 1's row of group 1 has lost its padding.
OptimStates partition(int rank) {
  OptimStates made;
  made.stem = optimizer_name(rank);
  if (rank == 1) made.second = row(10, 1);
  return made;
}

/// ZeRO 2: a, b, shift and two kinds of state of a and b.
void write_zero2(const Tag& tag) {
  tag.write(kModel, model().file());
  for (const int rank : {0, 1}) tag.write(optimizer_name(rank), partition(rank).file());
}

std::string zero3_optimizer(int rank, const std::string& second) {
  const std::string state =
      tests::base_state(moments(row(20 + rank, 4), 7), moments(row(24 + rank, 1), 7));
  return archive(
      pickled::dict({{"optimizer_state_dict",
                      pickled::dict({{"fp32_flat_groups", pickled::list({row(rank, 4), second})},
                                     {"optimizer_state_dict", state},
                                     {"partition_count", pickled::integer(2)}})}}),
      optimizer_name(rank));
}

void write_zero3(const Tag& tag) {
  for (const int rank : {0, 1}) {
    ModelStates made;
    made.stem = model_name(rank);
    made.stage = 3;
    made.module = pickled::dict({{"a", row(0, 0)}, {"b", row(0, 0)}, {"shift", row(9, 2)}});
    tag.write(model_name(rank), made.file());
    tag.write(optimizer_name(rank), zero3_optimizer(rank, row(4 + rank, 1)));
  }
}

std::string expert(int number) { return "layer_0_expert_" + std::to_string(number) + "_" + kModel; }
std::string expert_optimizer(int rank) {
  return "expp_rank_" + std::to_string(rank) + "_mp_rank_00_optim_states";
}

/// Moments of a, b and of the rank's own expert.
std::string spread_optimizer() {
  const std::string a = pickled::tensor({"FloatStorage", "0", 64, 20, {3, 2}, {2, 1}});
  const auto group = [](std::initializer_list<std::string> ids, const char* name, const char* moe) {
    return pickled::dict(
        {{"params", pickled::list(ids)}, {"name", pickled::text(name)}, {"moe", std::string(moe)}});
  };
  return pickled::dict(
      {{"state",
        pickled::dict(
            {{"0", moments(a, 7)}, {"1", moments(row(30, 3), 7)}, {"2", moments(row(40, 5), 7)}})},
       {"param_groups",
        pickled::list({group({pickled::integer(0), pickled::integer(1)}, "dense", "\x89"),
                       group({pickled::integer(2)}, "ep_size_2", "\x88")})}});
}

/// ZeRO 0, two experts on two ranks: a, b, shift, the experts, and moments of all but shift.
void write_experts(const Tag& tag) {
  ModelStates made = model();
  made.shapes = "N";
  made.stage = 0;
  made.optimizer = spread_optimizer();
  made.more_key = "num_experts";
  made.more = pickled::list({pickled::integer(2)});
  tag.write(kModel, made.file());
  for (const int rank : {0, 1}) {
    const std::string name = "m.deepspeed_experts." + std::to_string(rank) + ".w";
    tag.write(expert(rank), archive(pickled::dict({{name, row(rank, 5)}}), expert(rank)));
    tag.write(expert_optimizer(rank),
              archive(pickled::dict({{"optimizer", spread_optimizer()}}), expert_optimizer(rank)));
  }
}

void write_universal(const Tag& tag) {
  tag.write(kModel, model().file());
  tag.write("zero/a/fp32", archive(row(0, 6), "fp32"));
  tag.write("zero/b/fp32", archive(row(6, 3), "fp32"));
  tag.write("zero/a/exp_avg", archive(row(20, 6), "exp_avg"));
  tag.write("zero/b/exp_avg", archive(row(30, 3), "exp_avg"));
  tag.write("zero/optimizer_state", archive(pickled::dict({{"scale", row(0, 1)}})));
}

struct Fault {
  const char* what;
  void (*whole)(const Tag&);
  void (*damage)(const Tag&);
  Code code;
  std::int64_t paired;
  const char* says;
};

const Fault kFaults[] = {
    {"partition missing", write_zero2, [](const Tag& tag) { tag.remove(optimizer_name(1)); },
     Code::missing_rank, 7, "rank 1"},
    {"model missing", write_zero2, [](const Tag& tag) { tag.remove(kModel); }, Code::missing_rank,
     0, kModel},
    {"model of a rank missing", write_zero3, [](const Tag& tag) { tag.remove(model_name(1)); },
     Code::missing_rank, 5, "zero_pp_rank_1_mp_rank_00_model_states"},
    {"models of all ranks missing", write_zero3,
     [](const Tag& tag) {
       tag.remove(model_name(0));
       tag.remove(model_name(1));
     },
     Code::missing_rank, 0, kModel},
    {"expert missing", write_experts, [](const Tag& tag) { tag.remove(expert(1)); },
     Code::missing_rank, 8, "layer_0_expert_1_mp_rank_00"},
    {"optimizer of experts missing", write_experts,
     [](const Tag& tag) { tag.remove(expert_optimizer(1)); }, Code::missing_rank, 8, "expp_rank_1"},
    {"partitions exchanged", write_zero2,
     [](const Tag& tag) { tag.exchange(optimizer_name(0), optimizer_name(1)); }, Code::mixed_step,
     7, "was written as zero_pp_rank_1"},
    {"partitions of ZeRO 3 exchanged", write_zero3,
     [](const Tag& tag) { tag.exchange(optimizer_name(0), optimizer_name(1)); }, Code::mixed_step,
     5, "was written as zero_pp_rank_1"},
    {"models of ZeRO 3 exchanged", write_zero3,
     [](const Tag& tag) { tag.exchange(model_name(0), model_name(1)); }, Code::mixed_step, 5,
     "was written as"},
    {"experts exchanged", write_experts, [](const Tag& tag) { tag.exchange(expert(0), expert(1)); },
     Code::mixed_step, 9, "was written as"},
    {"an expert copied over another", write_experts,
     [](const Tag& tag) {
       tag.remove(expert(1));
       fs::copy(tag.path(expert(0)), tag.path(expert(1)));
     },
     Code::omission, 8, "its file holds m.deepspeed_experts.0.w in its place"},
    {"a partition of another step", write_zero2,
     [](const Tag& tag) {
       OptimStates other = partition(0);
       other.step = 5;
       tag.write(optimizer_name(0), other.file());
     },
     Code::mixed_step, 7, "@step is 5 in zero_pp_rank_0"},
    {"a model of another step", write_zero2,
     [](const Tag& tag) {
       ModelStates other = model();
       other.steps = 9;
       tag.write(kModel, other.file());
     },
     Code::mixed_step, 7, "the tag's name says 7"},
    {"partitions of a later step", write_zero2,
     [](const Tag& tag) {
       for (const int rank : {0, 1}) {
         OptimStates other = partition(rank);
         other.step = 12;
         tag.write(optimizer_name(rank), other.file());
       }
     },
     Code::mixed_step, 7, "made 12 steps"},
    {"a partition cut short", write_zero2, [](const Tag& tag) { tag.cut(optimizer_name(1), 100); },
     Code::unreadable, 7, ""},
    {"a model cut short", write_zero2, [](const Tag& tag) { tag.cut(kModel, 100); },
     Code::unreadable, 0, ""},
    {"another shape stated", write_zero2,
     [](const Tag& tag) {
       ModelStates other = model();
       other.shapes = pickled::list({pickled::dict({{"a", pickled::numbers({3, 3})}}),
                                     pickled::dict({{"b", pickled::numbers({3})}})});
       tag.write(kModel, other.file());
     },
     Code::shape_or_dtype, 7, "param_shapes of group 0 has 9 elements, the partitions hold 6"},
    {"another number of partitions stated", write_zero2,
     [](const Tag& tag) {
       for (const int rank : {0, 1}) {
         OptimStates other = partition(rank);
         other.counts = pickled::list({pickled::integer(1), pickled::integer(1)});
         tag.write(optimizer_name(rank), other.file());
       }
     },
     Code::shape_or_dtype, 7, "the partitions hold 3"},
    {"fewer ranks stated than there are", write_zero2,
     [](const Tag& tag) {
       ModelStates other = model();
       other.ranks = 1;
       tag.write(kModel, other.file());
     },
     Code::shape_or_dtype, 7, "dp_world_size is 1"},
    {"more ranks stated than there are", write_zero2,
     [](const Tag& tag) {
       ModelStates other = model();
       other.mp = 2;
       tag.write(kModel, other.file());
     },
     Code::missing_rank, 7, "mp_rank_01_model_states.pt is not there"},
    {"a state of a merged parameter missing", write_universal,
     [](const Tag& tag) { tag.remove("zero/b/exp_avg"); }, Code::omission, 6,
     "its exp_avg.pt is not there"},
    {"states of a merged parameter exchanged", write_universal,
     [](const Tag& tag) { tag.exchange("zero/b/exp_avg", "zero/b/fp32"); }, Code::mixed_step, 7,
     "exp_avg.pt was written as fp32.pt"},
    {"models of merged parameters missing", write_universal,
     [](const Tag& tag) { tag.remove(kModel); }, Code::missing_rank, 6, kModel},
    {"a partition that is too short", write_zero2,
     [](const Tag& tag) {
       OptimStates other = partition(1);
       other.first = row(0, 1);
       tag.write(optimizer_name(1), other.file());
     },
     Code::omission, 7, "a@master"},
    {"padding that was not trimmed", write_zero2,
     [](const Tag& tag) {
       for (const int rank : {0, 1}) {
         OptimStates other = partition(rank);
         other.first = row(0, 9);
         other.first_moment = row(20, 9);
         tag.write(optimizer_name(rank), other.file());
       }
     },
     Code::padding, 7, "lie behind the last parameter"},
};

TEST_CASE("MD02, MD03, MD04: one fault in a tag, named, and the rest compared") {
  for (const Fault& fault : kFaults) {
    INFO(fault.what);
    const TempDir folder;
    const Tag good{folder, "good/global_step7"};
    const Tag bad{folder, "bad/global_step7"};
    fault.whole(good);
    fault.whole(bad);
    cli::Options options;
    options.words = {folder.path(good.name), folder.path(bad.name)};
    CHECK(cli::diff(options).findings.empty());
    fault.damage(bad);
    const Verdict verdict = cli::diff(options);
    CHECK(verdict.coverage.paired == fault.paired);
    const bool said = std::ranges::any_of(verdict.findings, [&](const Finding& finding) {
      return finding.code == fault.code && finding.severity == Severity::error &&
             finding.message.find(fault.says) != std::string::npos;
    });
    CHECK(said);
    if (!said || verdict.coverage.paired != fault.paired) {
      for (const Finding& finding : verdict.findings) {
        MESSAGE(to_string(finding.code) << " " << finding.message);
      }
    }
  }
}

TEST_CASE("layers with different numbers of experts miss none") {
  const TempDir folder;
  const Tag tag{folder, "tag"};
  ModelStates made = model();
  made.shapes = "N";
  made.stage = 0;
  made.more_key = "num_experts";
  made.more = pickled::list({pickled::integer(1), pickled::integer(2)});
  tag.write(kModel, made.file());
  const auto write = [&](int layer, int number) {
    const std::string stem =
        "layer_" + std::to_string(layer) + "_expert_" + std::to_string(number) + "_" + kModel;
    const std::string weight =
        "m." + std::to_string(layer) + ".deepspeed_experts." + std::to_string(number) + ".w";
    tag.write(stem, archive(pickled::dict({{weight, row(number, 5)}}), stem));
    return stem;
  };
  const auto missed = [&] {
    cli::Options options;
    options.words = {folder.path("tag"), folder.path("tag")};
    return std::ranges::count(cli::diff(options).findings, Code::missing_rank, &Finding::code);
  };
  write(0, 0);
  const std::string last = write(1, 1);
  write(1, 0);
  CHECK(missed() == 0);
  tag.remove(last);
  CHECK(missed() == 2);  // on both sides
}

TEST_CASE("experts of tensor-parallel ranks are each rank's own") {
  const TempDir folder;
  const Tag tag{folder, "tag"};
  for (const int mp : {0, 1}) {
    const std::string end = "_mp_rank_0" + std::to_string(mp) + "_";
    ModelStates made;
    made.mp = 2;
    made.shapes = "N";
    made.stage = 0;
    made.optimizer = spread_optimizer();
    tag.write(end.substr(1) + "model_states", made.file());
    for (const int rank : {0, 1}) {
      const std::string number = std::to_string(rank);
      tag.write("layer_0_expert_" + number + end + "model_states",
                archive(pickled::dict({{"m.deepspeed_experts." + number + ".w", row(rank, 5)}})));
      tag.write("expp_rank_" + number + end + "optim_states",
                archive(pickled::dict({{"optimizer", spread_optimizer()}})));
    }
  }
  Result<Run> run = open(folder.path("tag"));
  REQUIRE(run.has_value());
  const State state = run->open(0);
  CHECK(state.unreadable == 0);
  for (const std::string name : {"m.deepspeed_experts.0.w@exp_avg", "b@exp_avg"}) {
    std::set<std::int64_t> starts;
    for (const Record& record : state.records) {
      if (record.identity.name == name && record.box_lo) starts.insert(record.box_lo->front());
    }
    CHECK(starts.size() == 2);
  }
  CHECK(std::ranges::none_of(
      state.findings, [](const Finding& finding) { return finding.code == Code::name_mapping; }));
}

TEST_CASE("MD02: one of two steps is blamed by the others, and both where there is no other") {
  const TempDir folder;
  const Tag tag{folder, "tag"};
  const auto write = [&](std::initializer_list<int> steps) {
    int rank = 0;
    ModelStates made;
    made.ranks = static_cast<std::int64_t>(steps.size());
    made.stage = 3;
    for (const int step : steps) {
      made.steps = step;
      tag.write(model_name(rank++), made.file());
    }
  };
  const auto blamed = [&] {
    cli::Options options;
    options.words = {folder.path("tag"), folder.path("tag")};
    std::vector<std::int32_t> ranks;
    for (const Finding& finding : cli::diff(options).findings) {
      if (finding.code != Code::mixed_step || finding.reference_where) continue;
      ranks.insert(ranks.end(), finding.ranks.begin(), finding.ranks.end());
    }
    std::ranges::sort(ranks);
    const auto twice = std::ranges::unique(ranks);  // both sides say it
    ranks.erase(twice.begin(), twice.end());
    return ranks;
  };
  write({5, 7, 7});
  CHECK(blamed() == std::vector<std::int32_t>{0});
  write({5, 7, 5, 7});
  CHECK(blamed() == std::vector<std::int32_t>{0, 1, 2, 3});
  write({7, 7, 7, 7});
  CHECK(blamed().empty());
}

TEST_CASE("LD: numbers of a flat group for each of many parameters are held to the files' bytes") {
  std::string shapes = "}(", numbers = "}(";
  for (int i = 0; i < 2000; ++i) {
    shapes += pickled::text(std::to_string(i)) + pickled::numbers({});
    numbers += pickled::text("k" + std::to_string(i)) + pickled::integer(i);
  }
  const TempDir folder;
  const Tag tag{folder, "tag"};
  ModelStates made = model();
  made.ranks = 1;
  made.shapes = pickled::list({shapes + "u"});
  tag.write(kModel, made.file());
  tag.write(optimizer_name(0),
            archive(pickled::dict(
                {{"optimizer_state_dict",
                  pickled::dict({{"single_partition_of_fp32_groups", pickled::list({row(0, 64)})},
                                 {"base_optimizer_state", pickled::list({numbers + "u"})},
                                 {"partition_count", pickled::integer(1)}})}})));
  Result<Run> run = open(folder.path("tag"));
  REQUIRE(run.has_value());
  const State state = run->open(0);
  CHECK(state.facts.size() < 400'000);
  CHECK(state.facts.size() > 2000);
  const auto limits = std::ranges::count_if(state.findings, [](const Finding& finding) {
    return finding.code == Code::unreadable && finding.message.starts_with("limit reached");
  });
  CHECK(limits == 1);
}

/// Four parameters whose names begin so, listed in param_shapes, and in no file.
State state_of_absent(const std::string& name, const char* group) {
  const TempDir folder;
  const Tag tag{folder, "tag"};
  ModelStates made = model();
  made.stage = 0;
  const std::string shape = pickled::numbers({5});
  made.shapes = pickled::list({pickled::dict(
      {{name, shape}, {name + "1", shape}, {name + "2", shape}, {name + "3", shape}})});
  made.optimizer = pickled::dict(
      {{"state", pickled::dict({})},
       {"param_groups", pickled::list({pickled::dict({{"params", pickled::list({})},
                                                      {"name", pickled::text(group)},
                                                      {"moe", std::string("\x88")}})})}});
  tag.write(kModel, made.file());
  Result<Run> run = open(folder.path("tag"));
  REQUIRE(run.has_value());
  return run->open(0);
}

TEST_CASE("experts are looked for on as many ranks as the files account for") {
  constexpr std::int64_t kRanks = std::int64_t{1} << 17;
  const State state = state_of_absent("m.deepspeed_experts.0.w", "ep_size_131072");
  CHECK(state.unreadable > kRanks);  // optimizer files of all
  CHECK(state.unreadable < kRanks + 300'000);
  const auto limits = std::ranges::count_if(state.findings, [](const Finding& finding) {
    return finding.severity == Severity::warning && finding.incomplete &&
           finding.message.starts_with("limit reached: the ranks that experts are spread over");
  });
  CHECK(limits == 1);
}

TEST_CASE("a number that no expert can have is part of a name") {
  const std::string name = "m.deepspeed_experts.9223372036854775807.w";
  const State state = state_of_absent(name, "ep_size_2");
  CHECK(std::ranges::any_of(state.findings, [&](const Finding& finding) {
    return finding.code == Code::omission && finding.tensor == name;
  }));
}

}  // namespace
}  // namespace ttcheck::formats
