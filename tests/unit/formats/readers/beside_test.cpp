// SPDX-License-Identifier: Apache-2.0
// What lies in a directory and is not a part of the run, through the door.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::small_safetensors;
using tests::TempDir;
namespace fs = std::filesystem;

/// `severity file: message` of each finding of the run and its state that leaves it incomplete.
std::vector<std::string> incomplete(const TempDir& directory) {
  const Result<Run> run = open(directory.path());
  if (!run) return {"refused: " + run.error().message()};
  std::vector<Finding> findings = run->findings;
  for (const Finding& finding : run->open(0).findings) findings.push_back(finding);
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    if (!finding.incomplete) continue;
    const std::string file = finding.where ? finding.where->file : "";
    lines.push_back((finding.severity == Severity::error ? "error " : "warning ") +
                    fs::path(file).filename().string() + ": " + finding.message);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST_CASE("H1 a file behind a link that is not followed leaves the run incomplete") {
  const TempDir directory;
  directory.write("a.safetensors", small_safetensors("a"));
  fs::create_symlink("nowhere", directory.path("b.safetensors"));
  CHECK(incomplete(directory) == Lines{"warning b.safetensors: is a link to what is not there"});
  fs::remove(directory.path("b.safetensors"));
  fs::create_symlink("nowhere", directory.path("train.log"));
  CHECK(incomplete(directory).empty());
}

TEST_CASE("H2 the parent of one run says what else may be one, or a part of it") {
  const TempDir directory;
  directory.write("run-a/x.safetensors", small_safetensors("a"));
  CHECK(incomplete(directory).empty());
  directory.write("run-b/weights.safetensors", "abc");
  directory.write("notes/readme.txt", "text");
  CHECK(incomplete(directory) ==
        Lines{"error weights.safetensors: no known format in this file of 3 bytes, beside the run "
              "that is read"});
  fs::remove_all(directory.path("run-b"));
  directory.write("extra.safetensors", "abcd");
  CHECK(incomplete(directory).size() == 1);
}

TEST_CASE("H2 of many files those that promise arrays are looked at first") {
  const TempDir directory;
  for (int i = 0; i < 70; ++i) directory.write("a" + std::to_string(i) + ".log", "text");
  directory.write("weights.safetensors", small_safetensors("a"));
  directory.write("notes/readme.txt", "text");
  const Result<Run> run = open(directory.path());
  REQUIRE(run);
  CHECK(run->open(0).records.size() == 1);
}

TEST_CASE("H3 a shard that the index does not list is not passed over") {
  const TempDir directory;
  directory.write("model-00001-of-00002.safetensors", small_safetensors("a"));
  directory.write("model-00002-of-00002.safetensors", small_safetensors("b"));
  directory.write("config.json", "{}");
  directory.write("model.safetensors.index.json",
                  R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})");
  CHECK(incomplete(directory) ==
        Lines{"warning model-00002-of-00002.safetensors: this shard is not in the index, and is "
              "not read"});
}

TEST_CASE("H6 a link to nothing among the folders of ranks") {
  const TempDir directory;
  fs::create_directories(directory.path("TP0_PP0_Rank0_pid4000"));
  fs::create_symlink("nowhere", directory.path("TP1_PP0_Rank1_pid4001"));
  CHECK(incomplete(directory).size() == 1);  // refused, and no crash
}

TEST_CASE("S20 a tracker that names a folder that is not there") {
  const TempDir directory;
  directory.write("global_step3/x.safetensors", small_safetensors("a"));
  directory.write("global_step4/x.safetensors", small_safetensors("a"));
  directory.write("latest", "globan_step4");
  const Result<Run> run = open(directory.path());
  REQUIRE(run);
  REQUIRE(run->findings.size() == 1);
  CHECK(run->findings[0].message == "the tracker names globan_step4, which is not there");
  CHECK(run->findings[0].severity == Severity::warning);
}

}  // namespace
}  // namespace ttcheck::formats
