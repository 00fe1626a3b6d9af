// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/metadata.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/memory_source.hpp"

namespace ttcheck::formats {
namespace {

TEST_CASE("dcp: a table of very many values is the same at any number of threads") {
  tests::DcpWriter table;
  for (std::int64_t t = 0; t < 12'000; ++t) {
    const std::string file = "__" + std::to_string(t % 3) + "_0.distcp";
    table.tensor("w" + std::to_string(t % 11'990), {4},
                 {{{0}, {2}, {file, 64 * t, 64}}, {{2}, {2}, {file, 64 * t + 64, 64}}});
  }
  table.item("odd", {"__0_0.distcp", 0, 1, {"a", "b"}});
  const tests::MemorySource source(
      tests::to_bytes(table.bytes(tests::pickled::global("os", "x") + "0")));
  std::vector<std::string> said[2];
  for (const int threads : {1, 4}) {
    set_threads(threads);
    const DcpMetadata metadata = read_dcp_metadata(source);
    std::vector<std::string>& all = said[threads == 1 ? 0 : 1];
    for (const Finding& finding : metadata.findings) all.push_back(finding.message);
    CHECK(metadata.findings.size() == 2);  // the name, and keys that are there twice
    CHECK(metadata.tensors.size() == 11'990);
    CHECK(metadata.tensors[5].chunks[1].place->offset == 64 * 11'995 + 64);
  }
  set_threads(0);
  CHECK(said[0] == said[1]);
}

}  // namespace
}  // namespace ttcheck::formats
