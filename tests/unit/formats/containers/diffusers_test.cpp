// SPDX-License-Identifier: Apache-2.0
// One model in folders that a file declares, through the door.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/bytes/findings.hpp"
#include "formats/open.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::small_safetensors;
using tests::TempDir;

constexpr std::string_view kIndex =
    R"({"_class_name":"P","unet":["diffusers","U"],"vae":["diffusers","V"],)"
    R"("scheduler":["diffusers","S"],"image_encoder":[null,null]})";

struct Opened {
  Run run;
  State state;
};

Opened opened(const TempDir& directory) {
  Result<Run> run = open(directory.path());
  REQUIRE_MESSAGE(run.has_value(), run.error().message());
  State state = run->open(0);
  return {std::move(*run), std::move(state)};
}

std::vector<std::string> names_of(const State& state) {
  std::vector<std::string> names;
  for (const Record& record : state.records) names.push_back(record.identity.name);
  std::ranges::sort(names);
  return names;
}

using Names = std::vector<std::string>;

void write(const TempDir& directory) {
  directory.write("model_index.json", std::string(kIndex));
  directory.write("scheduler/scheduler_config.json", "{}");
  for (const char* part : {"unet", "vae"}) {
    directory.write(std::string(part) + "/config.json", "{}");
    directory.write(std::string(part) + "/diffusion_pytorch_model.safetensors",
                    small_safetensors("w"));
  }
}

TEST_CASE("parts: the folders that model_index.json lists are one run") {
  const TempDir directory;
  write(directory);
  const auto [run, state] = opened(directory);
  CHECK(run.format == "hf");
  CHECK(names_of(state) == Names{"unet.w", "vae.w"});
  CHECK(state.findings.empty());
  CHECK(run.named.empty());
  CHECK(run.close().empty());
}

TEST_CASE("parts: other weights in a part, and what lies beside, are states of their own") {
  const TempDir directory;
  write(directory);
  directory.write("unet/diffusion_pytorch_model.fp16.safetensors", small_safetensors("h"));
  directory.write("ema/x.safetensors", small_safetensors("e"));
  const auto [run, state] = opened(directory);
  CHECK(names_of(state) == Names{"unet.w", "vae.w"});
  REQUIRE(state.named.size() == 1);
  CHECK(state.named[0].name == "unet/diffusion_pytorch_model.fp16.safetensors");
  CHECK(names_of(state.named[0].open().open(0)) == Names{"h"});
  REQUIRE(run.named.size() == 1);
  CHECK(run.named[0].name == "ema");
}

TEST_CASE("parts: one that is not there or cannot be read is said") {
  const TempDir directory;
  write(directory);
  SUBCASE("not there") { std::filesystem::remove_all(directory.path("vae")); }
  SUBCASE("damaged") { directory.write("vae/diffusion_pytorch_model.safetensors", "abc"); }
  const auto [run, state] = opened(directory);
  CHECK(names_of(state) == Names{"unet.w"});
  REQUIRE_FALSE(state.findings.empty());
  CHECK(state.findings[0].where->file.find("/vae") != std::string::npos);
}

TEST_CASE("parts: of very many that are not there some are listed, and all are counted") {
  const TempDir directory;
  write(directory);
  std::string index(kIndex);
  index.pop_back();
  constexpr int kMany = 2000;
  for (int i = 0; i < kMany; ++i) index += fmt::format(",\"p{}\":[\"a\",\"b\"]", i);
  directory.write("model_index.json", index + "}");
  const auto [run, state] = opened(directory);
  CHECK(names_of(state) == Names{"unet.w", "vae.w"});
  REQUIRE(state.findings.size() == static_cast<std::size_t>(kMaxListed) + 1);
  CHECK(state.findings.front().where->file == directory.path("p0"));
  CHECK(std::ranges::any_of(state.findings, [](const Finding& finding) {
    return finding.message.find(std::to_string(kMany - kMaxListed)) != std::string::npos;
  }));
}

TEST_CASE("parts: an index that is none leaves the folders to themselves") {
  const TempDir directory;
  write(directory);
  directory.write("model_index.json", "{");
  const Result<Run> run = open(directory.path());
  REQUIRE_FALSE(run.has_value());
  CHECK(run.error().message() == "several runs could be meant, name one: unet, vae");
}

}  // namespace
}  // namespace ttcheck::formats
