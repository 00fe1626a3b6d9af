// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/stale_copy.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "formats/open.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

namespace pickled = tests::pickled;

TEST_CASE("a step is another's copy only where all files are the same, byte for byte") {
  const tests::TempDir dir;
  for (const char* step : {"step-1", "step-2", "step-3", "step-4"}) {
    dir.write(std::string(step) + "/a", "same");
    dir.write(std::string(step) + "/deep/b", step == std::string("step-3") ? "others" : "values");
  }
  dir.write("step-4/c", "more");
  const formats::Root root(dir.path(""), false);
  const auto copied = stale_copy(root, {2, "step-2"}, {1, "step-1"});
  REQUIRE(copied);
  CHECK(copied->code == Code::duplicate_checkpoint);
  CHECK(copied->severity == Severity::error);
  CHECK(copied->step == 2);
  CHECK(copied->message == "step-2 is a copy of step 1: its 2 files hold the same 10 bytes");
  CHECK_FALSE(stale_copy(root, {3, "step-3"}, {1, "step-1"}));
  CHECK_FALSE(stale_copy(root, {4, "step-4"}, {1, "step-1"}));
}

TEST_CASE("a folder of a series that holds an older step's files is that step's copy") {
  const tests::TempDir dir;
  const auto saved = [](std::int64_t step) {
    return tests::torch_archive(pickled::dict({{"step", pickled::integer(step)}}));
  };
  dir.write("step-1/ckpt.pt", saved(1));
  dir.write("step-2/ckpt.pt", saved(1));
  dir.write("step-3/ckpt.pt", saved(2));
  const auto run = open(dir.path());
  REQUIRE(run);
  const auto copies = [&](std::size_t i) {
    const State state = run->open(i);
    return std::ranges::count(state.findings, Code::duplicate_checkpoint, &Finding::code);
  };
  CHECK(copies(0) == 0);
  CHECK(copies(1) == 1);
  CHECK(copies(2) == 0);
}

}  // namespace
}  // namespace ttcheck::formats
