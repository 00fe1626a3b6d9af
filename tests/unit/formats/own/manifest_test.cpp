// SPDX-License-Identifier: Apache-2.0
#include "formats/own/manifest.hpp"

#include <doctest/doctest.h>

#include "core/base/error.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

const std::string kHead = "{\"ttcheck_manifest\":1}\n";

Manifest read(const std::string& text) {
  const tests::TempDir directory;
  directory.write("m.jsonl", text);
  return read_manifest(directory.path() + "/m.jsonl");
}

TEST_CASE("a name gives back its tensor, whatever colons that has") {
  Identity identity;
  identity.name = "dense/kernel:0";
  CHECK(identity_of(manifest_name(identity)) == identity);
  identity.phase = Phase::forward;
  CHECK(identity_of(manifest_name(identity)) == identity);
}

TEST_CASE("what is written is read back, whatever the name") {
  const ManifestEntry entry{"f32", {6, 4}, "xxh3:0123456789abcdef", true};
  Identity odd;
  odd.name = "two\nlines \"quoted\" \xff";
  const std::string name = manifest_name(odd);
  const Manifest got = read(kHead + manifest_line(7, name, entry) + manifest_line({}, name, {}));
  REQUIRE(got.entries.size() == 2);
  CHECK(got.entries.at({7, name}) == entry);
  CHECK(got.entries.at({std::nullopt, name}) == ManifestEntry{});
}

TEST_CASE("the head keeps what the files state of the model") {
  const ManifestHead head{"hf", {{"heads", 32}, {"kv_heads", 8}}, true};
  CHECK(read(manifest_head(head)).head == head);
  CHECK(manifest_head({}) == kHead);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(read("{\"ttcheck_manifest\": 1, \"model\": {\"heads\": \"x\"}}\n")),
      doctest::Contains("m.jsonl"), Error);
}

TEST_CASE("records of a trace keep phase, micro-batch and call") {
  Identity record{"layers.0.mlp/output.0", Phase::forward, 2, 1};
  CHECK(manifest_name(record) == "forward:2:1:layers.0.mlp/output.0");
}

TEST_CASE("a file that is no manifest is refused with the place") {
  const std::string line = manifest_line(1, "w", {"f32", {2}, "xxh3:00"});
  for (const std::string& bad :
       {std::string(), std::string("# step 1\n"), line, std::string("{\"ttcheck_manifest\": 2}\n"),
        kHead + line + line, kHead + "{}\n", kHead + "[]\n", kHead + line.substr(0, 30),
        kHead + R"({"step":1.5,"name":"w","dtype":"f32","shape":[2],"hash":"x"})",
        kHead + R"({"step":1,"name":"w","dtype":"f32","shape":2,"hash":"x"})"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(static_cast<void>(read(bad)), Error);
  }
}

TEST_CASE("a manifest of another version is refused, with what makes one of this") {
  CHECK_THROWS_WITH_AS(static_cast<void>(read("{\"ttcheck_manifest\": 2}\n")),
                       doctest::Contains("manifest version 2 where 1 is known: ttcheck manifest "
                                         "--write writes it anew"),
                       Error);
}

}  // namespace
}  // namespace ttcheck::formats
