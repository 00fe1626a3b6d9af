// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/place.hpp"

#include <doctest/doctest.h>

#include <filesystem>

#include "formats/bytes/boundary.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

namespace fs = std::filesystem;

TEST_CASE("a place is the same by whatever names lead to it") {
  const tests::TempDir dir;
  const std::string file = dir.write("run/deep/a", "123");
  fs::create_symlink(file, dir.path("link"));
  CHECK(place_of(file) == place_of(dir.path("link")));
  CHECK(place_of(file) != place_of(dir.path("run")));
  CHECK(!place_of(dir.path("missing")));
  CHECK(lies_in(dir.path("link"), *place_of(dir.path("run"))));
  CHECK(!lies_in(dir.path("run"), *place_of(dir.path("run"))));
  CHECK(!lies_in(dir.path("missing"), *place_of(dir.path("run"))));
}

TEST_CASE("bytes below count files once, and links not") {
  const tests::TempDir dir;
  dir.write("run/a", "123");
  dir.write("run/deep/b", "45");
  fs::create_symlink(dir.path("run/a"), dir.path("run/link"));
  CHECK(bytes_below(dir.path("run")) == 5);
  CHECK(bytes_below(dir.path("run/a")) == 3);
  CHECK(bytes_below(dir.path("missing")) == 0);
}

TEST_CASE("a root reaches itself, and of a hub's snapshot the blobs") {
  const tests::TempDir dir;
  dir.write("models--x/snapshots/1/config.json", "{}");
  const std::string hub = fs::canonical(dir.path("models--x")).string();
  const std::string snapshot = dir.path("models--x/snapshots/1");
  CHECK(reach_of(snapshot, false) == std::vector{snapshot, hub + "/blobs"});
  CHECK(reach_of(snapshot + "/", false) == std::vector{snapshot + "/", hub + "/blobs"});
  CHECK(reach_of(dir.path("models--x"), false) == std::vector{dir.path("models--x")});
  CHECK(reach_of(dir.path("missing"), false) == std::vector{dir.path("missing")});
  CHECK(reach_of(snapshot, true) == std::vector<std::string>{"/"});
}

}  // namespace
}  // namespace ttcheck::formats
