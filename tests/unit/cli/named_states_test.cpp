// SPDX-License-Identifier: Apache-2.0
// States beside a checkpoint or a series, compared by their names.

#include "core/diff/named_states.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "cli/answer.hpp"
#include "cli/diff.hpp"
#include "cli/info.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::cli {
namespace {

using tests::TempDir;

/// One f32 tensor of two elements: 1 and 2, or 1 and 3.
std::string weights(bool other = false, std::string_view name = "w") {
  std::string text = tests::small_safetensors(name);
  if (other) text[text.size() - 2] = '\x40', text[text.size() - 1] = '\x40';
  return text;
}

Options options_of(std::string command, std::vector<std::string> words) {
  Options options;
  options.command = std::move(command);
  options.words = std::move(words);
  return options;
}

Verdict diff_of(const TempDir& a, const TempDir& b) {
  return diff(options_of("diff", {a.path(), b.path()}));
}

int code_of(const Verdict& verdict) { return exit_code(verdict, FailOn::error); }

std::vector<std::string> notes_of(const Verdict& verdict) {
  std::vector<std::string> notes;
  for (const Finding& finding : verdict.findings) {
    if (finding.severity == Severity::note) notes.push_back(finding.message);
  }
  return notes;
}

using Names = std::vector<std::string>;

/// A model of Hugging Face; `ema`: of averaged weights beside it.
void write_model(const TempDir& side, const std::string& folder, const std::string& ema) {
  side.write(folder + "config.json", "{}");
  side.write(folder + "model.safetensors", weights());
  if (!ema.empty()) side.write(folder + "ema.safetensors", ema);
}

TEST_CASE("H5b averaged weights beside a model are compared where both sides have them") {
  const TempDir a, b;
  write_model(a, "", weights());
  write_model(b, "", weights());
  const Verdict same = diff_of(a, b);
  CHECK(*same.outcome == Outcome::equal);
  CHECK(same.complete);
  CHECK(code_of(same) == 0);
  CHECK(same.coverage.paired == 2);
  CHECK(same.reference->tensors == 2);
  CHECK(same.coverage.bytes_unclaimed == 0);
  b.write("ema.safetensors", weights(true));
  const Verdict apart = diff_of(a, b);
  CHECK(*apart.outcome == Outcome::diverged);
  CHECK(code_of(apart) == 1);
  REQUIRE(apart.first);
  CHECK(apart.first->tensor == "ema.safetensors.w");
  REQUIRE(apart.tensors.size() == 1);
  CHECK(apart.tensors[0].identity.name == "ema.safetensors.w");
}

TEST_CASE("H5b a state that one side alone has is a note with its name") {
  const TempDir a, b;
  write_model(a, "", weights());
  write_model(b, "", "");
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::equal);
  CHECK(verdict.complete);
  CHECK(code_of(verdict) == 0);
  CHECK(notes_of(verdict) == Names{"beside the reference alone, each a state of its own, which was "
                                   "compared with nothing: ema.safetensors"});
  CHECK(notes_of(info(options_of("info", {a.path()}))) ==
        Names{"beside it, each a state of its own and not part of this: ema.safetensors"});
}

TEST_CASE("H5b a state that cannot be read is never equal") {
  const TempDir a, b;
  write_model(a, "", weights());
  write_model(b, "", weights());
  SUBCASE("torn") { b.write("ema.safetensors", weights().substr(0, weights().size() - 4)); }
  SUBCASE("of no known format") { b.write("ema.safetensors", "abcdefgh"); }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::not_comparable);
  CHECK(verdict.reason == "incomplete");
  CHECK(code_of(verdict) == 3);
}

TEST_CASE("states beside each step meet step by step") {
  const TempDir a, b;
  for (const int step : {1, 2}) {
    const std::string folder = fmt::format("checkpoint-{}/", step);
    write_model(a, folder, weights());
    write_model(b, folder, weights(step == 2));
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::diverged);
  CHECK(verdict.coverage.paired == 4);
  REQUIRE(verdict.first);
  CHECK(verdict.first->step == 2);
  CHECK(verdict.first->tensor == "ema.safetensors.w");
}

TEST_CASE("F15 another run beside the steps is a state of its own") {
  const TempDir a, b;
  for (const TempDir* side : {&a, &b}) {
    side->write("step1.safetensors", weights());
    side->write("final/x.safetensors", weights(side == &b));
    side->write("notes.dat", "abc");
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::diverged);
  CHECK(verdict.complete);
  REQUIRE(verdict.first);
  CHECK(verdict.first->tensor == "final.w");
  CHECK(notes_of(verdict) ==
        Names{"beside what is read, of no known format: notes.dat",
              "beside what is read, of no known format: notes.dat",
              "final is a copy of step 1 of the reference, bit for bit (1 tensor)"});
  CHECK(verdict.coverage.bytes_unclaimed == 6);
  Options chosen = options_of("diff", {a.path(), b.path()});
  chosen.steps = StepRange{1, 1};
  CHECK(*diff(chosen).outcome == Outcome::equal);  // the end was not asked for
}

TEST_CASE("runs side by side meet by their names; what one side alone has is a warning") {
  const TempDir a, b;
  for (const TempDir* side : {&a, &b}) {
    side->write("one/x.safetensors", weights());
    side->write("two/x.safetensors", weights(side == &b));
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::diverged);
  CHECK(verdict.coverage.paired == 2);
  REQUIRE(verdict.first);
  CHECK(verdict.first->tensor == "two.w");
  a.write("three/x.safetensors", weights());
  b.write("two/x.safetensors", weights());
  const Verdict more = diff_of(a, b);
  CHECK(*more.outcome == Outcome::equal);
  CHECK(std::ranges::count(more.findings, Severity::warning, &Finding::severity) == 1);
  const TempDir other;
  other.write("x.safetensors", weights());
  CHECK_THROWS_WITH_AS(diff_of(a, other),
                       doctest::Contains("several runs could be meant, name one: one, three, two"),
                       Error);
}

TEST_CASE("the same weights in other files are states of their own, whole or in shards") {
  const TempDir a, b;
  for (const TempDir* side : {&a, &b}) {
    write_model(*side, "", "");
    side->write("model.fp16.safetensors", weights());
    side->write("diffusion_pytorch_model-00001-of-00002.safetensors", weights(false, "u"));
    side->write("diffusion_pytorch_model-00002-of-00002.safetensors", weights(side == &b, "v"));
  }
  const Verdict verdict = diff_of(a, b);
  CHECK(*verdict.outcome == Outcome::diverged);
  CHECK(verdict.coverage.paired == 4);
  REQUIRE(verdict.first);
  CHECK(verdict.first->tensor == "diffusion_pytorch_model.safetensors.v");
}

}  // namespace
}  // namespace ttcheck::cli
