// SPDX-License-Identifier: Apache-2.0
// Files that are known and not read.

#include "formats/readers/foreign.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/memory_source.hpp"
#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::formats {
namespace {

using tests::MemorySource;

std::string kind_of(const std::string& bytes) {
  const MemorySource file(tests::to_bytes(bytes), "f");
  return std::string(foreign_kind(file, tests::to_bytes(bytes)));
}

std::string archive_of(std::initializer_list<const char*> members) {
  tests::ZipWriter made;
  for (const char* const member : members) made.add(member, "x");
  return kind_of(made.finish(true));
}

TEST_CASE("an archive is named by what lies in it, with what to do") {
  CHECK(archive_of({"config.json", "metadata.json", "model.weights.h5"}) ==
        "a Keras archive: unpack it, its model.weights.h5 is read");
  CHECK(archive_of({"m/data.pkl", "m/code/__torch__.py", "m/constants.pkl"}) ==
        "a TorchScript archive: save the module's state_dict() to have it read");
  CHECK(archive_of({"readme.txt"}) == "a zip archive without arrays in it");
  CHECK(kind_of("PK\3\4 and no more") == "a damaged zip archive");
}

TEST_CASE("other files are named by their first bytes") {
  CHECK(kind_of("\x1f\x8b") == "gzip data");
  CHECK(kind_of("hello, world") == "");
}

}  // namespace
}  // namespace ttcheck::formats
