// SPDX-License-Identifier: Apache-2.0
// How much a file may say, and what becomes of more.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "formats/open.hpp"
#include "formats/torch/facts.hpp"
#include "tests/support/dcp_writer.hpp"
#include "tests/support/opened_torch.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using namespace tests::pickled;
using tests::OpenedTorch;
using tests::torch_archive;

TEST_CASE("H4 values behind the hundred thousandth leave the comparison incomplete") {
  std::string values = "(";
  for (int i = 0; i < 100'001; ++i) values += text(fmt::format("k{}", i)) + integer(i);
  const std::string object = "}" + values + "u";
  const OpenedTorch file(torch_archive(dict({{"w", tensor({})}, {"sched", object}})));
  const Finding* const said = file.finding("limit reached: more than 100000 values");
  REQUIRE(said != nullptr);
  CHECK(said->incomplete);
  CHECK(said->severity == Severity::warning);
}

/// A file that says it is large; nothing of it may be read.
struct Claimed : Source {
  std::uint64_t size() const override { return std::uint64_t{2} << 30; }
  void read(std::uint64_t, std::span<std::byte>) const override { FAIL("was read"); }
  Where where(std::uint64_t at) const override { return {"claimed", at, {}}; }
};

TEST_CASE("H5 an array of more than a GiB beside the tensors is no text that is the same twice") {
  const Claimed source;
  Piece piece;
  piece.source = &source;
  piece.dtype = DType::i64;
  CHECK_THROWS_WITH_AS(value_of_array(piece, DType::i64, {(std::int64_t{1} << 27) + 1}),
                       doctest::Contains("at most 1073741824 are read"), Error);
}

TEST_CASE("H15 a chunk that is said to lie in fewer bytes than it has costs nothing, and is lost") {
  const tests::TempDir directory;
  tests::DcpWriter table;
  table.tensor("w", {1 << 20, 4}, {{{0, 0}, {1 << 20, 4}, {"__0_0.distcp", 0, 16}}});
  directory.write(".metadata", table.bytes());
  directory.write("__0_0.distcp", std::string(16, 'x'));
  const Result<Run> run = open(directory.path());
  REQUIRE(run);
  const State state = run->open(0);
  CHECK(state.records.empty());
  CHECK(state.unreadable_ranks.at(0).message().starts_with(
      "a chunk of 16777216 bytes is said to lie in 16 bytes"));
}

}  // namespace
}  // namespace ttcheck::formats
