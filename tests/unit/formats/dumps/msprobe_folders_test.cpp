// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/msprobe/folders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "formats/open.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;

/// A rank's folder with one op.
void write_rank(const TempDir& dir, const std::string& folder) {
  dir.write(folder + "/dump.json", R"({"task":"statistics","level":"L1","framework":"pytorch",)"
                                   R"("dump_data_dir":null,"data":{"Tensor.a.0.forward":)"
                                   R"({"input_args":[],"input_kwargs":{},"output":[)"
                                   R"({"type":"torch.Tensor","dtype":"torch.float32",)"
                                   R"("shape":[4],"Max":1,"Min":-1,"Mean":0.5,"Norm":3}]}}})");
  dir.write(folder + "/construct.json", "{}");
}

/// Errors that say of which folder another is used.
std::vector<std::string> said(const Run& run) {
  std::vector<std::string> messages;
  for (const Finding& finding : run.findings) {
    if (finding.code != Code::overlap) continue;
    CHECK(finding.severity == Severity::error);
    CHECK(finding.incomplete);
    messages.push_back(finding.message);
  }
  return messages;
}

TEST_CASE("of two folders of one rank, or process, one is read and the other said") {
  for (const std::string word : {"rank", "proc"}) {
    const TempDir dir;
    for (const char* number : {"0", "01", "1"}) {
      write_rank(dir, "step0/" + word + number);
    }
    const auto expected = [&](const std::string& step) {
      return std::vector<std::string>{step + word + "1 is of the same number as " + step + word +
                                      "01, which is used"};
    };
    for (const std::string below : {"", "/step0"}) {
      Result<Run> run = open(dir.path() + below);
      REQUIRE(run);
      CHECK(run->format == "msprobe");
      CHECK(said(*run) == expected(below.empty() ? "step0/" : ""));
      const State state = run->open(0);
      CHECK(state.records.size() == 2);
      CHECK(state.bytes_unclaimed > 0);
    }
  }
}

TEST_CASE("folders of processes beside those of ranks are all not read") {
  const TempDir dir;
  for (const char* folder : {"rank0", "proc7", "proc07"}) write_rank(dir, folder);
  Result<Run> run = open(dir.path());
  REQUIRE(run);
  CHECK(said(*run).empty());
  const auto left = std::ranges::count_if(run->findings, [](const Finding& finding) {
    return finding.message.ends_with("folders: not read");
  });
  CHECK(left == 2);
}

}  // namespace
}  // namespace ttcheck::formats
