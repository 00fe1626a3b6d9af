// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_vocabulary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/memory_source.hpp"

namespace ttcheck::diff {
namespace {

/// 32 bytes for two rows.
const Source& filled(std::byte with) {
  static const tests::MemorySource ones(std::vector<std::byte>(32, std::byte{1}));
  static const tests::MemorySource zeros(std::vector<std::byte>(32, std::byte{0}));
  return with == std::byte{0} ? static_cast<const Source&>(zeros) : ones;
}

/// Rows of 4, two a rank; rank 1 holds a copy of the first two, too. From `zeros` on all are zero.
Tensor of_rows(std::int64_t rows, std::int64_t zeros = 1000) {
  Tensor made;
  made.identity.name = "embed_tokens.weight";
  made.shape = {rows, 4};
  const auto piece = [&](std::int32_t rank, std::int64_t row) {
    Piece one;
    one.source = &filled(row >= zeros ? std::byte{0} : std::byte{1});
    one.dtype = made.dtype;
    one.rank = rank;
    one.cells = {{Box{{row, 0}, {2, 4}}, 0, {4, 1}}};
    return one;
  };
  for (std::int64_t row = 0; row < rows; row += 2) {
    made.pieces.push_back(piece(static_cast<std::int32_t>(row / 2), row));
  }
  made.replicas.push_back(piece(1, 0));
  return made;
}

struct Trimmed {
  std::vector<Tensor> reference, candidate;
  Verdict verdict;

  Trimmed(std::int64_t left, std::int64_t right, const std::set<std::int64_t>& words,
          const std::vector<char>& evidence = {})
      : reference{of_rows(left)}, candidate{of_rows(right)} {
    const std::vector<align::PairIndex> pairs = {{0, 0, "same"}};
    trim_vocabulary(reference, candidate, pairs, evidence, words, {}, verdict);
  }
};

TEST_CASE("rows beyond the vocabulary are said and not compared, on either side") {
  for (const bool swapped : {false, true}) {
    Trimmed done(swapped ? 8 : 3, swapped ? 3 : 8, {3});
    const Tensor& cut = (swapped ? done.reference : done.candidate).front();
    CHECK(cut.shape == Shape{3, 4});
    REQUIRE(cut.pieces.size() == 2);
    CHECK(cut.pieces[1].cells[0].box == Box{{2, 0}, {1, 4}});
    CHECK(cut.replicas.size() == 1);
    REQUIRE(done.verdict.findings.size() == 2);
    CHECK(done.verdict.findings[0].code == Code::shape_or_dtype);
    CHECK(done.verdict.findings[1].code == Code::padding);
    CHECK(done.verdict.findings[1].message.find("the last 5") != std::string::npos);
  }
}

TEST_CASE("of what is not reported rows are cut off without a word") {
  const Trimmed done(3, 8, {3}, {1});
  CHECK(done.candidate.front().shape == Shape{3, 4});
  CHECK(done.verdict.findings.empty());
}

TEST_CASE("a vocabulary that its own side states is no padding, nor are rows that nobody states") {
  for (const std::set<std::int64_t>& words :
       {std::set<std::int64_t>{3, 8}, std::set<std::int64_t>{8}, std::set<std::int64_t>{}}) {
    const Trimmed done(3, 8, words);
    CHECK(done.candidate.front().shape == Shape{8, 4});
    CHECK(done.verdict.findings.empty());
  }
}

TEST_CASE("rows of zeros behind the others are padding, though nobody states a vocabulary") {
  for (const bool zero : {true, false}) {
    std::vector<Tensor> reference = {of_rows(6)}, candidate = {of_rows(10, zero ? 6 : 8)};
    const std::vector<align::PairIndex> pairs = {{0, 0, "same"}};
    Verdict verdict;
    trim_vocabulary(reference, candidate, pairs, {}, {}, {}, verdict);
    CHECK(candidate.front().shape == Shape{zero ? 6 : 10, 4});
    REQUIRE(verdict.findings.size() == (zero ? 2U : 0U));
    if (zero) CHECK(verdict.findings[1].message.find("the last 4 are zeros") != std::string::npos);
  }
}

TEST_CASE("copies one behind the other are no padding") {
  const Trimmed done(3, 6, {3});
  CHECK(done.candidate.front().shape == Shape{6, 4});
  CHECK(done.verdict.findings.empty());
}

}  // namespace
}  // namespace ttcheck::diff
