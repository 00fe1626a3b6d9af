// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/unopened.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "formats/bytes/findings.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

namespace fs = std::filesystem;
using tests::TempDir;

TEST_CASE("names that may be a part of a run") {
  for (const char* name : {"a/optimizer.bin", "rank1", "latest", "notes.txt", "x/.metadata",
                           ".zarray", "config.json"}) {
    CHECK_MESSAGE(may_belong(name), name);
  }
  for (const char* name : {"train.log", "a/plot.png", "run.py", ".git", "x/.cache", "lost+found"}) {
    CHECK_MESSAGE(!may_belong(name), name);
  }
}

TEST_CASE("H1 each fault is one warning that leaves the run incomplete") {
  const TempDir directory;
  directory.write("good", "x");
  for (const char* name : {"a.bin", "b.bin", "c.log"}) {
    fs::create_symlink("nowhere", directory.path(name));
  }
  const Root root(directory.path(), false);
  root.list();
  std::vector<Finding> findings = {damaged({directory.path("a.bin"), {}, {}}, "is missing")};
  tell_faults(root, findings);
  REQUIRE(findings.size() == 2);  // a.bin is told already, and a log is no part of a run
  CHECK(findings[1].where->file == directory.path("b.bin"));
  CHECK(findings[1].message == "is a link to what is not there");
  CHECK(findings[1].severity == Severity::warning);
  CHECK(findings[1].incomplete);
  tell_faults(root, findings);
  CHECK(findings.size() == 2);
}

}  // namespace
}  // namespace ttcheck::formats
