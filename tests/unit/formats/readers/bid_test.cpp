// SPDX-License-Identifier: Apache-2.0
#include "formats/readers/bid.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "formats/open.hpp"
#include "formats/readers/auction.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;
namespace fs = std::filesystem;

/// Who bids for a place, by what was bid; the weakest first.
std::map<Bid, const Format*> bidders_of(const std::string& path) {
  const Root root(path, false);
  const auto looked = look(root);
  std::map<Bid, const Format*> bidders;
  for (const auto& row : {table(), containers()}) {
    for (const Format* format : row) {
      const Bid bid = format->bid(looked->probe);
      if (bid == Bid::none) continue;
      INFO(path);
      CHECK(bidders.emplace(bid, format).second);
    }
  }
  return bidders;
}

TEST_CASE("no two readers make one bid, for any file or directory of the samples") {
  std::map<Bid, const Format*> owners;
  int known = 0;
  for (const auto& entry : fs::recursive_directory_iterator("samples")) {
    if (entry.is_symlink()) continue;
    const auto bidders = bidders_of(entry.path().string());
    known += bidders.empty() ? 0 : 1;
    for (const auto& [bid, format] : bidders) {
      INFO(entry.path().string());
      CHECK(owners.emplace(bid, format).first->second == format);
    }
  }
  CHECK(known > 500);
  CHECK(owners.size() > 30);
}

Run opened(const TempDir& directory, const std::string& name = "") {
  Result<Run> run = open(name.empty() ? directory.path() : directory.path(name));
  if (!run) throw run.error();
  return std::move(*run);
}

/// Whether a warning of the run, or of its first step, names it.
bool mentions(const Run& run, std::string_view text) {
  std::vector<Finding> findings = run.findings;
  std::ranges::move(run.open(0).findings, std::back_inserter(findings));
  return std::ranges::any_of(findings, [&](const Finding& finding) {
    const bool named = finding.where && finding.where->file.ends_with(text);
    return finding.severity >= Severity::warning &&
           (named || finding.message.find(text) != std::string::npos);
  });
}

TEST_CASE("H14: of two dumps in one folder that which cannot be named is read, and both are told") {
  const TempDir directory;
  const fs::path to = directory.path();
  fs::copy("samples/small/megatron-dump", to, fs::copy_options::recursive);
  fs::copy("samples/small/te-dump", to, fs::copy_options::recursive);
  const Run run = opened(directory);
  CHECK(run.format == "megatron-dump");
  CHECK(mentions(run, "tensor_dumps"));
  CHECK(opened(directory, "tensor_dumps").format == "te-dump");
}

TEST_CASE("H14: a Trainer's checkpoint with a part of a distributed one is the Trainer's") {
  const TempDir directory;
  fs::copy("samples/huggingface/trainer/checkpoint-2", directory.path(),
           fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  directory.write("__0_0.distcp", "bytes");
  const Run run = opened(directory);
  CHECK(run.format == "hf-trainer");
  CHECK(mentions(run, "__0_0.distcp"));
}

TEST_CASE("H14: a file that is called as msprobe's steps are takes nothing from the dump") {
  const TempDir directory;
  fs::copy("samples/msprobe/reference", directory.path(), fs::copy_options::recursive);
  directory.write("step9", "a word");
  CHECK(opened(directory).format == "msprobe");
}

TEST_CASE("a length that fits a header is no pickle, though it begins as one") {
  const TempDir directory;
  const std::string torn{"\x80\x02\0\0\0\0\0\0{\"a\":", 14};
  directory.write("torn", torn);
  const auto bidders = bidders_of(directory.path("torn"));
  REQUIRE(bidders.size() == 2);
  CHECK(bidders.begin()->first == Bid::pickle);
  CHECK(bidders.rbegin()->first == Bid::torn_safetensors);
}

}  // namespace
}  // namespace ttcheck::formats
