// SPDX-License-Identifier: Apache-2.0
// What becomes of names that do not meet by themselves, from the files to the verdict.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/diffed.hpp"
#include "tests/support/npy_text.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::cli {
namespace {

using tests::diffed;
using tests::TempDir;

/// Names, and the first of the two numbers of each.
using Values = std::vector<std::pair<std::string, float>>;

std::string written(const TempDir& directory, const std::string& file, const Values& values) {
  std::string header, data;
  for (const auto& [name, first] : values) {
    header += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[2],"data_offsets":[{},{}]}})",
                          header.empty() ? "" : ",", name, data.size(), data.size() + 8);
    for (const float value : {first, first + 1}) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      data.append(bytes, sizeof value);
    }
  }
  return directory.write(file, tests::safetensors_of("{" + header + "}", data));
}

std::int64_t count(const Verdict& verdict, Code code, Severity severity) {
  return std::ranges::count_if(verdict.findings, [&](const Finding& finding) {
    return finding.code == code && finding.severity == severity;
  });
}

TEST_CASE("one bare array meets another, whatever their files are called") {
  const TempDir directory;
  const std::string npy = directory.write(
      "x.npy", tests::npy_of(tests::npy_header("'<f4'", "(2, 2)"), tests::kStorage));
  const std::string torch =
      directory.write("y.pt", tests::torch_archive(tests::pickled::tensor({})));
  for (const auto& [left, right] : {std::pair(npy, torch), std::pair(torch, npy)}) {
    const Verdict verdict = diffed(left, right);
    CHECK(verdict.outcome == Outcome::equal);
    CHECK(verdict.coverage.paired == 1);
  }
}

const Values kModel = {{"a.w", 1}, {"b.w", 2}, {"c.w", 3}, {"d.w", 4}};

TEST_CASE("half of the weights without a partner are another model; fewer are missing") {
  const TempDir directory;
  const std::string model = written(directory, "model", kModel);
  const std::string half =
      written(directory, "half", {{"a.w", 1}, {"b.w", 2}, {"x.v", 7}, {"y.v", 8}});
  const Verdict other = diffed(model, half);
  CHECK(other.outcome == Outcome::not_comparable);
  CHECK(other.reason == "another model: 2 of 4 names have no partner");
  CHECK(other.complete);
  CHECK(count(other, Code::missing, Severity::note) == 2);
  CHECK(count(other, Code::unexpected, Severity::note) == 2);
  CHECK(count(other, Code::name_mapping, Severity::warning) == 1);
  const Verdict less =
      diffed(model, written(directory, "less", {{"a.w", 1}, {"b.w", 2}, {"c.w", 3}, {"x.v", 8}}));
  CHECK(less.outcome == Outcome::diverged);
  CHECK(count(less, Code::missing, Severity::error) == 1);
  const Verdict part = diffed(model, written(directory, "part", {{"a.w", 1}}));
  CHECK(part.outcome == Outcome::diverged);
  CHECK(part.coverage.only_reference == 3);
}

TEST_CASE("an average beside equal weights leaves them equal, whichever side has it") {
  const TempDir directory;
  Values both = kModel;
  for (const auto& [name, first] : kModel) both.emplace_back("ema." + name, first / 2);
  const std::string model = written(directory, "model", kModel);
  const std::string averaged = written(directory, "averaged", both);
  for (const auto& [left, right] : {std::pair(model, averaged), std::pair(averaged, model)}) {
    const Verdict verdict = diffed(left, right);
    CHECK(verdict.outcome == Outcome::equal);
    CHECK(verdict.coverage.excluded == 4);
    CHECK(verdict.coverage.excluded_by.front().first == "copy ema");
  }
}

TEST_CASE("values that are wrong behind a prefix are still found") {
  const TempDir directory;
  Values wrapped;
  for (const auto& [name, first] : kModel) wrapped.emplace_back("net." + name, first);
  wrapped[2].second = 9;
  const Verdict verdict =
      diffed(written(directory, "model", kModel), written(directory, "wrapped", wrapped));
  CHECK(verdict.outcome == Outcome::diverged);
  REQUIRE(verdict.first);
  CHECK(verdict.first->tensor == "c.w");
  CHECK(verdict.coverage.paired == 4);
}

}  // namespace
}  // namespace ttcheck::cli
