// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "cli/diff.hpp"
#include "formats/dumps/msprobe/dump.hpp"
#include "formats/dumps/msprobe/name.hpp"
#include "formats/open.hpp"
#include "tests/support/deepspeed_files.hpp"
#include "tests/support/npy_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::TempDir;

/// One tensor of dump.json.
std::string entry(const std::string& more, const std::string& shape = "[4]",
                  const std::string& dtype = "torch.float32") {
  return fmt::format(R"({{"type":"torch.Tensor","dtype":"{}","shape":{}{}}})", dtype, shape, more);
}

std::string statistics(double max, const std::string& norm = "3") {
  return fmt::format(R"(,"Max":{},"Min":-1,"Mean":0.5,"Norm":{})", max, norm);
}

/// An op that gives one tensor.
std::string op(const std::string& name, const std::string& output) {
  return fmt::format(R"("{}":{{"input_args":[],"input_kwargs":{{}},"output":[{}]}})", name, output);
}

std::string dump(const std::string& ops) {
  return R"({"task":"statistics","level":"L1","framework":"pytorch","dump_data_dir":null,"data":{)" +
         ops + "}}";
}

void write_rank(const TempDir& dir, const std::string& folder, const std::string& ops) {
  dir.write(folder + "/dump.json", dump(ops));
  dir.write(folder + "/construct.json", "{}");
}

Verdict diff_of(const TempDir& reference, const TempDir& candidate, const std::string& below = "") {
  cli::Options options;
  options.words = {reference.path() + below, candidate.path() + below};
  return cli::diff(options);
}

std::int64_t count(const Verdict& verdict, Code code, Severity severity) {
  return std::ranges::count_if(verdict.findings, [&](const Finding& one) {
    return one.code == code && one.severity == severity;
  });
}

TEST_CASE("keys of dump.json without the counters of their calls") {
  const auto base = [](const char* key) { return parse_msprobe_op(key).value().base; };
  CHECK(base("Tensor.__add__.10.forward") == "Tensor.__add__.forward");
  CHECK(base("Module.layers.1.attn.Attention.forward.0") ==
        "Module.layers.1.attn.Attention.forward");
  CHECK(base("Module.a.Linear.parameters_grad.0") == "Module.a.Linear.parameters_grad");
  CHECK(base("Module.a.Linear.parameters_grad") == "Module.a.Linear.parameters_grad");
  CHECK(base("x.3.debug") == "x.debug");
  CHECK(parse_msprobe_op("Functional.linear.0.backward")->backward);
  CHECK(parse_msprobe_op("x_grad.3.debug")->backward);
  for (const char* other : {"", "forward", "0", "a.b", "a.forward.x", ".."}) {
    CHECK_FALSE(parse_msprobe_op(other));
  }
}

TEST_CASE("names of tensor files") {
  const auto parts = [](const char* name) {
    const auto found = parse_msprobe_file(name);
    return found ? found->first + " " + found->second : "";
  };
  CHECK(parts("Tensor.__add__.10.forward.input.0.pt") == "Tensor.__add__.10.forward input.0");
  CHECK(parts("Module.a.input.Linear.forward.2.kwargs.mask.0.pt") ==
        "Module.a.input.Linear.forward.2 kwargs.mask.0");
  CHECK(parts("Module.a.Linear.forward.0.parameters.weight.pt") ==
        "Module.a.Linear.forward.0 parameters.weight");
  CHECK(parts("Module.a.Linear.parameters_grad.0.weight.pt") ==
        "Module.a.Linear.parameters_grad.0 weight");
  CHECK(parts("Module.a.Linear.parameters_grad.weight.pt") ==
        "Module.a.Linear.parameters_grad weight");
  CHECK(parts("x.0.debug.pt") == "x.0.debug ");
  CHECK(parts("x.0.debug.1.a.npy") == "x.0.debug 1.a");
  CHECK(parts("weights.pt").empty());
  CHECK(parts("a.forward.pt").empty());
}

TEST_CASE("what an op took and gave, with kinds by direction") {
  const MsprobeDump made = parse_msprobe_dump(
      dump(R"("Module.a.Linear.backward.0":{"input":[)" + entry("") + "],\"output\":[null," +
           entry("") + "]}," + R"("Module.a.Linear.parameters_grad.0":{"weight":[)" + entry("") +
           "]}," +
           R"("Distributed.send.0.forward":{"input_args":[{"class_type":"P2POp","tensor":)" +
           entry("") + R"(,"peer":0}],"input_kwargs":{"group":{"a":[)" + entry("") +
           R"(,{"type":"int","value":7}]}}})"),
      "dump.json");
  std::string slots;
  for (const MsprobeTensor& tensor : made.tensors) slots += tensor.slot + " ";
  CHECK(slots == "input.0 output.1 weight input.0 kwargs.group.a.0 ");
  REQUIRE(made.ops.size() == 3);
  CHECK(made.ops[2].arguments ==
        std::vector<std::pair<std::string, std::string>>{{"kwargs.group.a.1", "7"}});
  CHECK(msprobe_meaning(made.ops[0].op, "input.0") ==
        std::pair(Phase::backward, Kind::grad_output));
  CHECK(msprobe_meaning(made.ops[0].op, "output.0") ==
        std::pair(Phase::backward, Kind::grad_input));
  CHECK(msprobe_meaning(made.ops[1].op, "weight") == std::pair(Phase::backward, Kind::grad));
  CHECK(made.findings.empty());
}

TEST_CASE("JL04: non-finite numbers, bare or as text, are numbers") {
  const MsprobeDump made = parse_msprobe_dump(
      dump(op("Tensor.a.0.forward",
              entry(R"(,"Max":Infinity,"Min":"-inf","Mean":"NaN","Norm":NaN,"md5":"0123abcd")") +
                  "," + entry(R"(,"Max":true,"Min":false,"Mean":null,"Norm":null)"))),
      "dump.json");
  REQUIRE(made.tensors.size() == 2);
  const StoredStats& stats = *made.tensors[0].stats;
  CHECK(std::isinf(stats.max));
  CHECK(stats.min == -stats.max);
  CHECK(std::isnan(*stats.mean));
  CHECK(std::isnan(*stats.l2));
  CHECK(made.tensors[0].hash == "crc32:0123abcd");
  CHECK(made.tensors[1].stats->max == 1);
  CHECK_FALSE(made.tensors[1].stats->l2);
}

TEST_CASE("JL01, JL03, JL06: of a damaged dump.json what stands before the damage is read") {
  const std::string whole =
      dump(op("Tensor.a.0.forward", entry("")) + "," + op("Tensor.b.0.forward", entry("")));
  for (const std::string& text :
       {whole.substr(0, whole.size() - 30), whole + "}",
        dump(op("Tensor.a.0.forward", entry("")) + ",\"b\":" + std::string(100'000, '[')),
        dump(op("Tensor.a.0.forward", entry("")) + ",\"\xff\":1")}) {
    const MsprobeDump made = parse_msprobe_dump(text, "dump.json");
    CHECK(made.ops.size() >= 1);
    REQUIRE(made.findings.size() == 1);
    CHECK(made.findings[0].incomplete);
    CHECK(made.findings[0].where->offset);
  }
  CHECK_THROWS_AS(parse_msprobe_dump("{\"task\":", "dump.json"), Error);
  CHECK_THROWS_AS(parse_msprobe_dump("", "dump.json"), Error);
}

TEST_CASE("a tensor that cannot be described costs that tensor alone") {
  const MsprobeDump made = parse_msprobe_dump(
      dump(op("Tensor.a.0.forward", entry("", "[4]", "torch.hifloat8") + "," +
                                        entry("", "[9223372036854775807,9]") + "," +
                                        entry("", "[-1]") + "," + entry(""))),
      "dump.json");
  CHECK(made.unreadable == 3);
  CHECK(made.tensors.size() == 1);
}

TEST_CASE("the root, a step and a rank open; several steps are a series") {
  const TempDir dir;
  for (const char* folder : {"step0/rank0", "step0/rank1", "step2/rank0", "step2/rank1"}) {
    write_rank(dir, folder, op("Tensor.a.0.forward", entry(statistics(1))));
  }
  const Result<Run> root = open(dir.path());
  REQUIRE(root);
  CHECK(root->format == "msprobe");
  CHECK(root->steps == std::vector<std::optional<std::int64_t>>{0, 2});
  CHECK(open(dir.path() + "/step2")->steps == std::vector<std::optional<std::int64_t>>{2});
  const Result<Run> rank = open(dir.path() + "/step2/rank1");
  REQUIRE(rank);
  CHECK(rank->open(0).records.at(0).piece.rank == 1);
  CHECK(diff_of(dir, dir).outcome == Outcome::noise);
}

TEST_CASE("a rank that only other steps have is missing") {
  const TempDir whole, lacks;
  for (const TempDir* dir : {&whole, &lacks}) {
    for (const char* folder : {"step0/rank0", "step0/rank1", "step1/rank0"}) {
      write_rank(*dir, folder, op("Tensor.a.0.forward", entry(statistics(1))));
    }
  }
  write_rank(whole, "step1/rank1", op("Tensor.a.0.forward", entry(statistics(1))));
  const Verdict verdict = diff_of(whole, lacks);
  CHECK(count(verdict, Code::missing_rank, Severity::error) == 1);
  CHECK_FALSE(verdict.complete);
}

TEST_CASE("ranks are compared one by one, and the wrong one is named") {
  const TempDir a, b;
  const auto write = [](const TempDir& dir, double second, const std::string& shape) {
    write_rank(dir, "step0/rank0", op("Tensor.a.0.forward", entry(statistics(5), shape)));
    write_rank(dir, "step0/rank1", op("Tensor.a.0.forward", entry(statistics(second), shape)));
  };
  for (const char* shape : {"[4]", "[]"}) {
    write(a, 2, shape);
    write(b, 2, shape);
    CHECK(diff_of(a, b).outcome == Outcome::noise);
    write(b, 3, shape);  // below the other rank's largest
    const Verdict verdict = diff_of(a, b);
    CHECK(verdict.outcome == Outcome::diverged);
    REQUIRE(verdict.first);
    CHECK(verdict.first->ranks == std::vector<std::int32_t>{1});
  }
}

/// Two ranks of tensor parallelism: parts that differ, and a collective that names them.
void write_two_ranks(const TempDir& dir, const std::string& ops = "") {
  for (const int rank : {0, 1}) {
    write_rank(dir, fmt::format("step0/rank{}", rank),
               op("Functional.linear.0.forward", entry(statistics(2 + rank))) + ops);
  }
}

TEST_CASE("of a rank that one side lost, what both sides have is compared") {
  const std::string group =
      R"(,"Distributed.all_reduce.0.forward":{"input_args":[],"input_kwargs":{"group":)"
      R"({"type":"torch.ProcessGroup","group_ranks":[0,1,1e99,-1,"x"]}},"output":[]})";
  for (const std::string& ops : {std::string(), group}) {
    const TempDir whole, unfinished, lost, damaged;
    write_two_ranks(whole, ops);
    write_two_ranks(unfinished, ops);
    std::filesystem::remove(unfinished.path("step0/rank1/dump.json"));
    write_rank(lost, "step0/rank0", op("Functional.linear.0.forward", entry(statistics(2))) + ops);
    write_two_ranks(damaged, ops);
    damaged.write("step0/rank0/dump.json", R"({"task":"statistics","data":{"Functional.li)");
    for (const TempDir* one : {&unfinished, &lost, &damaged}) {
      for (const bool swapped : {false, true}) {
        const Verdict verdict = swapped ? diff_of(*one, whole) : diff_of(whole, *one);
        CHECK(verdict.outcome == Outcome::not_comparable);
        CHECK_FALSE(verdict.complete);
        CHECK(verdict.coverage.paired == 1);
        CHECK(count(verdict, Code::replica_mismatch, Severity::error) == 0);
        const auto code = one == &lost ? Code::missing_rank : Code::unreadable;
        CHECK(count(verdict, code, Severity::error) == 1);
      }
    }
    CHECK(diff_of(lost, lost).outcome == Outcome::noise);  // chosen, for all that is known
  }
}

TEST_CASE("where the other side is of other ranks, nothing tells a lost rank's parts") {
  const TempDir alone, lost;
  write_rank(alone, "step0/proc7", op("Functional.linear.0.forward", entry(statistics(2))));
  write_two_ranks(lost);
  std::filesystem::remove(lost.path("step0/rank1/dump.json"));
  const Verdict verdict = diff_of(alone, lost);
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(verdict.coverage.paired == 0);
}

TEST_CASE("a step whose dump was not finished is unreadable, not left out") {
  const TempDir whole, unfinished;
  for (const TempDir* dir : {&whole, &unfinished}) {
    for (const char* step : {"step0", "step1"}) {
      write_rank(*dir, std::string(step) + "/proc7",
                 op("Functional.linear.0.forward", entry(statistics(2))));
    }
  }
  std::filesystem::remove(unfinished.path("step0/proc7/dump.json"));
  const Verdict verdict = diff_of(whole, unfinished);
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(count(verdict, Code::unreadable, Severity::error) == 1);
  CHECK(verdict.coverage.paired == 1);
}

TEST_CASE("an op of ranks that hold unlike tensors under one name is each rank's own") {
  const TempDir a;
  write_rank(a, "step0/rank0", op("Tensor.a.0.forward", entry(statistics(1), "[4,3]")));
  write_rank(a, "step0/rank1", op("Tensor.a.0.forward", entry(statistics(1), "[4,5]")));
  const Verdict verdict = diff_of(a, a);
  CHECK(verdict.outcome == Outcome::noise);
  CHECK(verdict.coverage.paired == 2);
}

TEST_CASE("hashes: equal is equal, else statistics decide, and without them the hash does") {
  const TempDir a, b;
  const auto outcome = [&](const std::string& left, const std::string& right,
                           const std::string& dtype = "torch.float32") {
    write_rank(a, "step0/proc7", op("Tensor.a.0.forward", entry(left, "[4]", dtype)));
    write_rank(b, "step0/proc9", op("Tensor.a.0.forward", entry(right, "[4]", dtype)));
    return *diff_of(a, b).outcome;
  };
  const std::string one = R"(,"md5":"00000001")", two = R"(,"md5":"00000002")";
  CHECK(outcome(one, one) == Outcome::equal);
  CHECK(outcome(one, two) == Outcome::diverged);
  CHECK(outcome(statistics(1) + one, statistics(1) + two) == Outcome::noise);
  CHECK(outcome(statistics(1) + one, statistics(2) + two) == Outcome::diverged);
  CHECK(outcome(statistics(1) + one, statistics(1) + two, "torch.int64") == Outcome::diverged);
  CHECK(outcome(statistics(1), statistics(1)) == Outcome::noise);
  CHECK(outcome(statistics(1), statistics(1, "NaN")) == Outcome::diverged);
  CHECK(outcome(statistics(1, "NaN"), statistics(1, "\"nan\"")) == Outcome::noise);
  CHECK(outcome(one, R"(,"md5":"0x0000000000000001")") == Outcome::not_comparable);
  CHECK(outcome("", "") == Outcome::not_comparable);
  // summary_mode xor gives a scalar tensor's own value
  CHECK(outcome(R"(,"md5":28.0)", R"(,"md5":28.0)") == Outcome::equal);
  CHECK(outcome(R"(,"md5":28.0)", R"(,"md5":29.0)") == Outcome::diverged);
  CHECK(outcome(R"(,"md5":null)", R"(,"md5":null)") == Outcome::not_comparable);
}

/// A tensor file of elements `from`, `from` + 1...
std::string values(std::int64_t from) {
  return tests::archive(tensor({"FloatStorage", "0", 64, from, {4}, {1}}));
}

TEST_CASE("a tensor file that is named and not there is said; one that nothing names is read") {
  const TempDir a, b;
  const std::string named = statistics(1) + R"(,"data_name":"Tensor.a.0.forward.output.0.pt")";
  for (const TempDir* dir : {&a, &b}) {
    write_rank(*dir, "step0/rank0", op("Tensor.a.0.forward", entry(named)));
    dir->write("step0/rank0/dump_tensor_data/Tensor.b.0.forward.output.0.pt", values(0));
  }
  a.write("step0/rank0/dump_tensor_data/Tensor.a.0.forward.output.0.pt", values(0));
  const Verdict lost = diff_of(a, b);
  CHECK_FALSE(lost.complete);
  CHECK(lost.coverage.paired == 2);
  CHECK(count(lost, Code::unreadable, Severity::error) == 1);
  b.write("step0/rank0/dump_tensor_data/Tensor.a.0.forward.output.0.pt", values(1));
  const Verdict found = diff_of(a, b);
  CHECK(found.outcome == Outcome::diverged);
  CHECK(found.first->tensor == "Tensor.a.0.forward/output.0");
}

/// debug.json of one tensor.
std::string debug(const std::string& more, const std::string& shape = "[4]") {
  return dump("\"x.0.debug\":" + entry(more, shape));
}

State state_in(const TempDir& dir) {
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  return run->open(0);
}

/// The place of the finding that says `words`; empty where there is none.
Where said_at(const State& state, const std::string& words) {
  for (const Finding& finding : state.findings) {
    if (finding.message.find(words) != std::string::npos) return finding.where.value_or(Where{});
  }
  return {};
}

TEST_CASE("of dump.json and debug.json one is read though the other is damaged") {
  constexpr std::string_view kDamaged = R"({"task":)";
  for (const std::string damaged : {"dump.json", "debug.json"}) {
    const TempDir dir;
    write_rank(dir, "step0/rank0", op("Tensor.a.0.forward", entry(statistics(1))));
    dir.write("step0/rank0/debug.json", debug(statistics(1)));
    dir.write("step0/rank0/" + damaged, kDamaged);
    const State state = state_in(dir);
    CHECK(state.unreadable_ranks.empty());
    REQUIRE(state.records.size() == 1);
    CHECK((state.records[0].identity.name == "x.0.debug") == (damaged == "dump.json"));
    REQUIRE(state.findings.size() == 1);
    CHECK(state.findings[0].where->file.ends_with(damaged));
    CHECK(state.findings[0].incomplete);
    CHECK(state.damaged_ranks.contains(0));
  }
  const TempDir neither;
  neither.write("step0/rank0/construct.json", "{}");
  neither.write("step0/rank0/dump.json", kDamaged);
  neither.write("step0/rank0/debug.json", kDamaged);
  const State state = state_in(neither);
  REQUIRE(state.unreadable_ranks.contains(0));
  CHECK(state.unreadable_ranks.at(0).where().file.ends_with("step0/rank0/dump.json"));
}

TEST_CASE("what is odd about an entry of debug.json names that file") {
  const TempDir dir;
  const std::string text = debug(R"(,"data_name":"x.0.debug.pt")", "[5]");
  dir.write("step0/rank0/debug.json", text);
  dir.write("step0/rank0/construct.json", "{}");
  const State lost = state_in(dir);
  const Where where = said_at(lost, "tensor file x.0.debug.pt is not there");
  CHECK(where.file.ends_with("step0/rank0/debug.json"));
  CHECK(where.offset == text.find(R"({"type")"));
  CHECK(where.object == "dump_tensor_data");
  for (const char* name : {"x.0.debug.pt", "y.0.debug.pt"}) {
    dir.write(std::string("step0/rank0/dump_tensor_data/") + name, values(0));
  }
  const State odd = state_in(dir);
  CHECK(said_at(odd, "is f32 of 4 elements, debug.json says f32 of 5")
            .file.ends_with("dump_tensor_data/x.0.debug.pt"));
  CHECK(said_at(odd, "that it does not name").file.ends_with("step0/rank0/debug.json"));
}

TEST_CASE("without dump.json the tensor files are read by their names, in the order of numbers") {
  const TempDir dir;
  for (const char* name : {"Tensor.a.10.forward.output.0.pt", "Tensor.a.2.forward.output.0.pt"}) {
    dir.write(std::string("step0/rank0/dump_tensor_data/") + name, values(0));
  }
  dir.write("step0/rank0/dump_tensor_data/notes.txt", "x");
  const Result<Run> run = open(dir.path());
  REQUIRE(run);
  const State state = run->open(0);
  REQUIRE(state.records.size() == 2);
  CHECK(state.records[0].identity.name == "Tensor.a.2.forward/output.0");
  CHECK(state.findings.size() == 2);
  CHECK(state.bytes_unclaimed >= 1);
}

TEST_CASE("arrays of the same bytes that stand for something else are not the same") {
  const TempDir seconds, nanoseconds;
  const auto write = [](const TempDir& dir, const std::string& unit) {
    dir.write(
        "step0/rank0/dump_tensor_data/Tensor.a.0.forward.output.0.npy",
        tests::npy_of(tests::npy_header("'<M8[" + unit + "]'", "(2,)"), std::string(16, '\1')));
  };
  write(seconds, "s");
  write(nanoseconds, "ns");
  const Verdict verdict = diff_of(seconds, nanoseconds);
  CHECK(std::ranges::any_of(verdict.findings, [](const Finding& finding) {
    return finding.message.find("<M8[ns]") != std::string::npos;
  }));
}

TEST_CASE("F10: the op that differs first is the first, not the module around it") {
  const TempDir a, b;
  const auto write = [](const TempDir& dir, int max) {
    dir.write("step0/rank0/dump.json", dump(op("Tensor.a.0.forward", entry(statistics(max))) + "," +
                                            op("Module.m.M.forward.0", entry(statistics(max)))));
    dir.write("step0/rank0/construct.json",
              R"({"Tensor.a.0.forward":["Module.m.M.forward.0",1],"Module.m.M.forward.0":null})");
  };
  write(a, 1);
  write(b, 2);
  const Verdict verdict = diff_of(a, b);
  REQUIRE(verdict.first);
  CHECK(verdict.first->op == "Tensor.a.0.forward");
  CHECK(verdict.findings.at(0).tensor == "Tensor.a.0.forward/output.0");
  CHECK(verdict.findings.at(0).message.find("within Module.m.M.forward.0") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::formats
