// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet.hpp"

#include <doctest/doctest.h>

#include <string>

#include "cli/diff.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::diff {
namespace {

/// Two steps of one weight.
std::string series(const tests::TempDir& directory, const std::string& name) {
  for (const char* const step : {"checkpoint-1", "checkpoint-2"}) {
    const std::string header =
        R"({")" + name + R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})";
    directory.write(std::string(step) + "/model.safetensors",
                    tests::safetensors_of(header, std::string(step).substr(8)));
  }
  return directory.path();
}

TEST_CASE("names that met by a rule are listed where it was asked, of the first step alone") {
  const tests::TempDir a, b;
  cli::Options options;
  options.command = "diff";
  options.words = {series(a, "layers.0.weight"), series(b, "net.layers.0.weight")};
  options.progress = cli::When::never;
  CHECK(cli::diff(options).renames.empty());
  options.show_map = true;
  const Verdict verdict = cli::diff(options);
  CHECK(verdict.coverage.paired == 2);
  REQUIRE(verdict.renames.size() == 1);
  CHECK(verdict.renames.front().reference == "layers.0.weight");
  CHECK(verdict.renames.front().candidate == "net.layers.0.weight");
}

}  // namespace
}  // namespace ttcheck::diff
