// SPDX-License-Identifier: Apache-2.0
#include "core/explain/rank_sum.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <string>
#include <vector>

#include "core/model/verdict.hpp"
#include "tests/support/array_source.hpp"
#include "tests/support/stored_values.hpp"

namespace ttcheck::explain {
namespace {

using tests::ArraySource;
using tests::stored_values;

/// What ranks hold, one behind the other.
class ByRank {
 public:
  explicit ByRank(const std::vector<std::vector<double>>& ranks, DType dtype = DType::f64) {
    tensor.dtype = dtype;
    tensor.shape = {0};
    tensor.by_rank = true;
    for (const std::vector<double>& numbers : ranks) {
      Piece piece;
      piece.source = &sources_.emplace_back(stored_values(dtype, numbers));
      piece.dtype = dtype;
      piece.rank = static_cast<std::int32_t>(tensor.pieces.size());
      piece.cells = {{Box{{tensor.shape[0]}, {std::ssize(numbers)}}, 0, {1}}};
      tensor.pieces.push_back(piece);
      tensor.shape[0] += std::ssize(numbers);
    }
  }

  /// What that rank holds in two boxes instead of one.
  void cut(std::size_t rank) {
    std::vector<Cell>& cells = tensor.pieces[rank].cells;
    Cell rest = cells[0];
    cells[0].box.size[0] = 1;
    rest.box.lo[0] += 1;
    rest.box.size[0] -= 1;
    rest.start = 1;
    cells.push_back(rest);
  }

  /// That rank's values can no longer be read.
  void lose(std::size_t rank) {
    sources_[rank].broken_from = 0;
    sources_[rank].broken_to = 1;
  }

  Tensor tensor;

 private:
  std::deque<ArraySource> sources_;
};

std::optional<Explanation> tried(const ByRank& reference, const ByRank& candidate,
                                 const ValueMap* map = nullptr) {
  const TensorResult result;
  Subject subject;
  subject.pair.reference = &reference.tensor;
  subject.pair.candidate = &candidate.tensor;
  subject.pair.candidate_map = map;
  subject.result = &result;
  return rank_sum(subject);
}

TEST_CASE("what ranks of one value in the reference hold adds up to it") {
  const ByRank reference({{4, 6}, {4, 6}, {9, 9}, {9, 9}});  // two replicas of two parts
  const auto found = tried(reference, ByRank({{1, 8}, {3, -2}, {5, 5}, {4, 4}}));
  REQUIRE(found);
  CHECK(found->code == Code::partial_sum);
  CHECK(found->hypothesis.residual == 0);
  CHECK(found->words == "each rank holds a part of it: the sum over rank is the reference");
  const auto mean = tried(reference, ByRank({{3, 5}, {5, 7}, {9, 9}, {9, 9}}));
  REQUIRE(mean);
  CHECK(mean->words == "each rank holds a part of it: the mean over rank is the reference");
}

TEST_CASE("what ranks hold alike, or one rank alone holds, are no addends") {
  CHECK_FALSE(tried(ByRank({{4, 6}, {4, 6}}), ByRank({{2, 3}, {2, 3}})));
  CHECK_FALSE(tried(ByRank({{4, 6}, {5, 6}}), ByRank({{1, 3}, {3, 3}})));
}

TEST_CASE("ranks that hold something else, several boxes or nothing have no part in it") {
  const std::vector<std::vector<double>> same = {{4, 6}, {4, 6}, {4, 6}};
  const std::vector<std::vector<double>> addends = {{1, 8}, {7, 7}, {3, -2}};
  struct Row {
    const char* what;
    ByRank reference, candidate;
  };
  Row rows[] = {
      {"another value", ByRank({{4, 6}, {5, 5}, {4, 6}}), ByRank(addends)},
      {"a shorter one", ByRank({{4, 6}, {4}, {4, 6}}), ByRank(addends)},
      {"a shorter addend", ByRank(same), ByRank({{1, 8}, {7}, {3, -2}})},
      {"two boxes in the reference", ByRank(same), ByRank(addends)},
      {"two boxes in the candidate", ByRank(same), ByRank(addends)},
      {"no piece in the candidate", ByRank(same), ByRank(addends)},
      {"what cannot be read", ByRank(same), ByRank(addends)},
  };
  rows[6].reference.lose(1);
  rows[3].reference.cut(1);
  rows[4].candidate.cut(1);
  std::erase_if(rows[5].candidate.tensor.pieces, [](const Piece& one) { return one.rank == 1; });
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const auto found = tried(row.reference, row.candidate);
    REQUIRE(found);
    CHECK(found->hypothesis.residual == 0);
    CHECK(found->words == "each rank holds a part of it: the sum over rank is the reference");
  }
  ByRank cut(same), cut_addends(addends);
  cut.cut(0);
  CHECK_FALSE(tried(cut, ByRank(addends)));  // of the first one all others are told
  for (const std::size_t rank : {1U, 2U}) cut.cut(rank);
  for (const std::size_t rank : {0U, 1U, 2U}) cut_addends.cut(rank);
  CHECK_FALSE(tried(cut, cut_addends));
}

TEST_CASE("integers have no addends, nor has nothing, nor what was mapped") {
  ByRank reference({{4, 6}, {4, 6}}), candidate({{1, 8}, {3, -2}});
  REQUIRE(tried(reference, candidate));
  ByRank whole = reference;
  CHECK_FALSE(tried(ByRank({{4, 6}, {4, 6}}, DType::i32), ByRank({{1, 8}, {3, -2}}, DType::i32)));
  whole.tensor.pieces.clear();
  CHECK_FALSE(tried(whole, candidate));
  const ValueMap map;
  CHECK_FALSE(tried(reference, candidate, &map));
  whole = reference;
  whole.tensor.by_rank = false;
  CHECK_FALSE(tried(whole, candidate));
}

TEST_CASE("only tensors that were put together rank by rank are looked at") {
  const ByRank reference({{4, 6}, {4, 6}});
  ByRank candidate({{1, 8}, {3, -2}});
  candidate.tensor.by_rank = false;
  CHECK_FALSE(tried(reference, candidate));
}

}  // namespace
}  // namespace ttcheck::explain
