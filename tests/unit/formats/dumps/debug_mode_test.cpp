// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/diff.hpp"
#include "formats/dumps/debug_mode/log.hpp"
#include "formats/open.hpp"
#include "tests/support/memory_source.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;
using Texts = std::vector<std::string_view>;

DebugModeLog read_log(const std::string& text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return read_debug_mode(tests::MemorySource({bytes, bytes + text.size()}));
}

Verdict diff_of(const TempDir& reference, const TempDir& candidate) {
  cli::Options options;
  options.words = {reference.path(), candidate.path()};
  return cli::diff(options);
}

TEST_CASE("items are cut at commas outside of brackets and quotes") {
  CHECK(split_items("t: f32[4, 8], 1, ['a, b', (2, 3)]") ==
        Texts{"t: f32[4, 8]", "1", "['a, b', (2, 3)]"});
  CHECK(split_items("").empty());
  CHECK(split_items("(28.0, 0),") == Texts{"(28.0, 0)"});
  CHECK(inside_brackets("{'hash': 1}") == "'hash': 1");
  CHECK_FALSE(inside_brackets("[1)"));
  CHECK(dict_value("{'input_hash': ((1, {}), {}), 'hash': [1.0, None]}", "hash") == "[1.0, None]");
  CHECK_FALSE(dict_value("{'hashes': 1}", "hash"));
}

TEST_CASE("tensors are told by dtype and shape, with or without numbers and placements") {
  const auto plain = logged_tensor("t$12: f32[4, 8]");
  REQUIRE(plain);
  CHECK(plain->dtype == DType::f32);
  CHECK(plain->shape == Shape{4, 8});
  const auto spread = logged_tensor("'dt: bf16[16, 16]| S(0)'");
  REQUIRE(spread);
  CHECK(spread->distributed);
  CHECK(spread->dtype == DType::bf16);
  CHECK(logged_tensor("t: i64[]{requires_grad=False}")->shape.empty());
  for (const char* other : {"2", "[1, 2]", "torch.float32", "t: f99[1]", "t: f32[-1]", "t: f32",
                            "t", "", "t: f32]1[", "tensor"}) {
    CHECK_FALSE(logged_tensor(other));
  }
}

TEST_CASE("an op has the module above it, hashes of its tensors and a phase") {
  const DebugModeLog log = read_log(
      "    aten::sum(t: f32[4])  ->  t: f32[]  # {'hash': 28.0}\n"
      "    [nn.Mod] Model\n"
      "      # File: model.py:3 in forward, code: x = self.a(x)\n"
      "      [nn.Mod] Model.a.b\n"
      "        aten::split.Tensor(t: f32[4, 2], 1, -1)  ->  ['t: f32[4, 1]', 't: f32[4, 1]']  # "
      "{'input_hash': (((2.0, 7), None, None), {}), 'hash': [(1.5, 3), (0.5, 4)]}\n"
      "      aten::_to_copy(t: f32[4], dtype=torch.float16, other=t: i64[])  ->  t: f16[4]  # "
      "{'input_hash': ((2.0,), {'dtype': None, 'other': 5.0}), 'hash': nan}\n"
      "    aten::ones_like(t: f32[], pin_memory=False)  ->  t: f32[]  # {'hash': 1.0}\n"
      "    aten::mul.Tensor(t: f32[], t: f32[])  ->  t: f32[]  # {'hash': 12}\n");
  CHECK(log.not_ours == 0);
  CHECK(log.hashed);
  REQUIRE(log.ops.size() == 5);
  CHECK(log.ops[0].module.empty());
  const LoggedOp& split = log.ops[1];
  CHECK(split.name == "aten::split.Tensor");
  CHECK(split.module == "a.b");
  REQUIRE(split.outputs.size() == 2);
  CHECK(split.outputs[1]->hash == "(0.5, 4)");
  CHECK(split.outputs[1]->norm == 0.5);
  REQUIRE(split.inputs.size() == 3);
  CHECK(split.inputs[0]->hash == "(2.0, 7)");
  CHECK_FALSE(split.inputs[1]);
  const LoggedOp& copy = log.ops[2];
  CHECK(copy.module.empty());  // at the depth of `a.b` itself: of its caller
  REQUIRE(copy.inputs.size() == 3);
  CHECK(copy.inputs[2]->hash == "5.0");
  CHECK(copy.outputs[0]->norm);
  CHECK(log.ops[2].phase == Phase::forward);
  CHECK(log.ops[3].phase == Phase::backward);
  CHECK(log.ops[4].phase == Phase::backward);
  CHECK_FALSE(log.ops[4].outputs[0]->norm);
}

TEST_CASE("a part of the model that runs on the way back is recomputed there") {
  const DebugModeLog log = read_log(
      "    [nn.Mod] Model\n"
      "      [nn.Mod] Model.a\n"
      "        aten::exp(t: f32[4])  ->  t: f32[4]\n"
      "      aten::sum(t: f32[4])  ->  t: f32[]\n"
      "    aten::ones_like(t: f32[], pin_memory=False)  ->  t: f32[]\n"
      "    [nn.Mod] Model.a\n"
      "      aten::exp(t: f32[4])  ->  t: f32[4]\n"
      "    aten::mul.Tensor(t: f32[4], t: f32[4])  ->  t: f32[4]\n"
      "    [nn.Mod] Model\n"  // the next batch
      "      [nn.Mod] Model.a\n"
      "        aten::exp(t: f32[4])  ->  t: f32[4]\n");
  REQUIRE(log.ops.size() == 6);
  CHECK(log.ops[3].module == "a");
  const auto expected = {Phase::forward,  Phase::forward,  Phase::backward,
                         Phase::backward, Phase::backward, Phase::forward};
  CHECK(std::ranges::equal(log.ops, expected, {}, &LoggedOp::phase));
}

TEST_CASE("DTensor's own lines have no values, what they run on a rank's part has their module") {
  const DebugModeLog log = read_log(
      "    [nn.Mod] Model\n"
      "      [nn.Mod] Model.q\n"
      "        aten::view(t: f32[4], [4])  ->  t: f32[4]  # {'hash': 1.0}\n"
      "      aten::mm(dt: f32[32, 16]| R, dt: f32[16, 16]| S(1))\n"
      "        -> output: S(1)\n"
      "        redistribute_input [implicit] (1, R -> S(1))\n"
      "          aten::t(t: f32[4])  ->  t: f32[4]  # {'hash': 2.0}\n"
      "        aten::mm(t: f32[32, 16], t: f32[16, 8])  ->  t: f32[32, 8]  # {'hash': 3.0}\n"
      "      aten::add.Tensor(t: f32[4], t: f32[4])  ->  t: f32[4]  # {'hash': 4.0}\n");
  REQUIRE(log.ops.size() == 4);
  CHECK(log.ops[0].module == "q");
  CHECK_FALSE(log.ops[0].scattered);
  CHECK(log.ops[1].module == "q");
  CHECK(log.ops[1].scattered);
  CHECK(log.ops[2].module == "q");
  CHECK(log.ops[2].scattered);
  CHECK(log.ops[3].module.empty());
  CHECK_FALSE(log.ops[3].scattered);
}

TEST_CASE("a module's path is kept once, whatever runs in it") {
  const DebugModeLog log = read_log(
      "    [nn.Mod] Model.a\n"
      "      aten::mm(dt: f32[32, 16]| R, dt: f32[16, 16]| S(1))\n"
      "        aten::t(t: f32[4])  ->  t: f32[4]\n"
      "        aten::t(t: f32[4])  ->  t: f32[4]\n");
  REQUIRE(log.ops.size() == 2);
  CHECK(log.ops[0].module == "a");
  CHECK(log.ops[0].module.data() == log.ops[1].module.data());
}

TEST_CASE("a module's path that is too long for all its operations is a limit") {
  std::string log = "    [nn.Mod] Model." + std::string(std::size_t{1} << 19, 'a') + "\n";
  for (int i = 0; i < 1000; ++i) {
    log += "      aten::t(t: f32[4])  ->  t: f32[4]  # {'input_hash': ((1.0,), {}), 'hash': 1.0}\n";
  }
  const TempDir folder;
  folder.write("rank-00000.txt", log);
  Result<Run> run = open(folder.path());
  REQUIRE(run);
  const State state = run->open(0);
  CHECK(state.records.size() > 100);
  CHECK(state.records.size() < 500);
  CHECK(state.unreadable == 1000 - std::ssize(state.records) / 2);
  REQUIRE(state.findings.size() == 1);
  CHECK(state.findings[0].severity == Severity::warning);
  CHECK(state.findings[0].incomplete);
  CHECK(state.findings[0].message.starts_with("limit reached: "));
  CHECK(state.findings[0].where->offset > std::uint64_t{1} << 19);
}

TEST_CASE("functions of torch that pile up at one indent are not walked for each line") {
  std::string log;
  for (int i = 0; i < 400'000; ++i) log += "    f(1)  ->  1\n";  // takes minutes if they are
  const DebugModeLog read = read_log(log + "    f(t: f32[4])  ->  t: f32[4]\n");
  REQUIRE(read.ops.size() == 1);
  CHECK_FALSE(read.ops[0].scattered);
}

TEST_CASE("a log that holds parts of DTensors is one of several ranks'") {
  const std::string part =
      "    aten::mm(dt: f32[4, 8]| R, dt: f32[8, 6]| S(1))\n"
      "      aten::mm(t: f32[4, 8], t: f32[8, 3])  ->  t: f32[4, 3]  # {'hash': 2.0}\n";
  const std::string whole =
      "    aten::mm(t: f32[4, 8], t: f32[8, 6])  ->  t: f32[4, 6]  # {'hash': 4.0}\n";
  CHECK(read_log(part).one_of_several);
  CHECK_FALSE(read_log(whole).one_of_several);
  const TempDir plain, lone, both;
  plain.write("rank-00000.txt", whole);
  lone.write("rank-00000.txt", part);
  both.write("rank-00000.txt", part);
  both.write("rank-00001.txt", part);
  CHECK(diff_of(lone, lone).outcome == Outcome::equal);
  for (const TempDir* other : {&plain, &both}) {
    const Verdict verdict = diff_of(*other, lone);
    CHECK(verdict.outcome == Outcome::not_comparable);
    const auto lost = std::ranges::find_if(verdict.findings, [](const Finding& one) {
      return one.code == Code::missing_rank && one.severity == Severity::error;
    });
    REQUIRE(lost != verdict.findings.end());
    CHECK(lost->ranks == std::vector<std::int32_t>{1});
  }
}

TEST_CASE("hashes of bits decide between the same ranks alone") {
  const auto log = [](int hash) {
    return fmt::format("    aten::mul(t: f32[4], t: f32[4])  ->  t: f32[4]  # {{'hash': {}}}\n",
                       hash);
  };
  const TempDir one, other_one, two, other_two;
  one.write("rank-00000.txt", log(1));
  other_one.write("rank-00000.txt", log(2));
  for (const char* name : {"rank-00000.txt", "rank-00001.txt"}) {
    two.write(name, log(1));
    other_two.write(name, log(2));
  }
  CHECK(diff_of(one, two).outcome == Outcome::equal);
  CHECK(diff_of(one, other_one).outcome == Outcome::diverged);
  CHECK(diff_of(two, other_two).outcome == Outcome::diverged);
  for (const Verdict& verdict : {diff_of(one, other_two), diff_of(other_two, one)}) {
    CHECK(verdict.outcome == Outcome::not_comparable);
    REQUIRE(verdict.findings.size() == 1);
    CHECK(verdict.findings.front().code == Code::unreadable);
  }
}

TEST_CASE("the first difference says what op one side alone has before it") {
  const auto log = [](const char* op, double norm) {
    const auto line = [](const char* name, double hash) {
      return fmt::format("    aten::{}(t: f32[4])  ->  t: f32[4]  # {{'hash': {:.1f}}}\n", name,
                         hash);
    };
    return line("abs", 2) + line(op, norm) + line("t", 1) + line("neg", norm);
  };
  const TempDir reference, candidate;
  reference.write("rank-00000.txt", log("silu", 3));
  candidate.write("rank-00000.txt", log("gelu", 5));
  const Verdict verdict = diff_of(reference, candidate);
  CHECK(verdict.outcome == Outcome::diverged);
  const auto told = [&](std::string_view words) {
    return std::ranges::any_of(verdict.findings, [&](const Finding& one) {
      return one.tensor == "aten::neg.0/output.0" && one.message.find(words) != one.message.npos;
    });
  };
  CHECK(told("shortly before it only the candidate has aten::gelu.0/output.0"));
  CHECK(told("only the reference has aten::silu.0/output.0"));
}

TEST_CASE("only text of such lines is a log") {
  CHECK(is_debug_mode("    [nn.Mod] Model\n      aten::t(t: f32[1])  ->"));
  CHECK(is_debug_mode("  <method 'sum' of 'torch._C.TensorBase' objects>(t: f32[4])  ->  1\n"));
  for (const char* other : {"", "hello\n", "{\"a\": 1}", "    hello world\n", "    aten::t(1)\n",
                            "[nn.Mod] Model\n", "    aten::t(t: f32[1])\nhello\n"}) {
    CHECK_FALSE(is_debug_mode(other));
  }
}

TEST_CASE("norms within the limit are noise, a log without hashes is nothing to compare") {
  const TempDir a, near, far, bare;
  const auto write = [](const TempDir& dir, const std::string& log) {
    dir.write("rank-00000.txt",
              "    [nn.Mod] M\n      aten::add(t: f32[2, 2])  ->  t: f32[2, 2]" + log + "\n");
  };
  write(a, "  # {'hash': 100.0}");
  write(near, "  # {'hash': 100.00001}");
  write(far, "  # {'hash': 101.0}");
  write(bare, "");
  CHECK(diff_of(a, a).outcome == Outcome::equal);
  CHECK(diff_of(a, near).outcome == Outcome::noise);
  const Verdict wrong = diff_of(a, far);
  CHECK(wrong.outcome == Outcome::diverged);
  REQUIRE(wrong.first);
  CHECK(wrong.first->op == "aten::add.0");
  CHECK(diff_of(bare, bare).outcome == Outcome::not_comparable);
}

TEST_CASE("norms of parts add up, those of addends and of uninitialised memory are left out") {
  const TempDir whole, parts;
  const auto line = [](const std::string& op, const std::string& shape, const std::string& hash) {
    return "      aten::" + op + "(t: f32[" + shape + "])  ->  t: f32[" + shape +
           "]  # {'hash': " + hash + "}\n";
  };
  const std::string first = "    [nn.Mod] M\n" + line("neg", "2, 2", "4.0");
  whole.write("rank-00000.txt", first + line("mm", "2, 6", "10.0") + line("bmm", "2, 2", "3.0") +
                                    line("empty", "2", "7.0") + line("add", "2, 2", "5.0"));
  for (const int rank : {0, 1}) {
    const bool other = rank == 1;
    parts.write("rank-0000" + std::to_string(rank) + ".txt",
                first + line("mm", "2, 3", other ? "4.0" : "6.0") +
                    line("bmm", "2, 2", other ? "2.0" : "9.0") + line("empty", "2", "1e30") +
                    line("add", "2, 2", "5.0"));
  }
  const Verdict verdict = diff_of(whole, parts);
  CHECK(verdict.outcome == Outcome::noise);
  CHECK(verdict.complete);
  CHECK(verdict.coverage.paired == 3);
  CHECK(verdict.coverage.excluded > 0);
  parts.write("rank-00001.txt", first + line("mm", "2, 3", "4.0") + line("bmm", "2, 2", "2.0") +
                                    line("empty", "2", "1e30") + line("add", "2, 2", "6.0"));
  CHECK(diff_of(parts, parts).outcome == Outcome::equal);  // each rank's with its own
}

}  // namespace
}  // namespace ttcheck::formats
