#include "core/explain/rank_sum.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "core/model/verdict.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::explain {
namespace {

using tests::ArraySource;

/// What ranks hold, one behind the other.
class ByRank {
 public:
  explicit ByRank(const std::vector<std::vector<float>>& ranks) {
    const auto length = static_cast<std::int64_t>(ranks.front().size());
    tensor.dtype = DType::f32;
    tensor.shape = {length * std::ssize(ranks)};
    tensor.by_rank = true;
    for (const std::vector<float>& numbers : ranks) {
      Piece piece;
      piece.source = &sources_.emplace_back(ArraySource::of(numbers));
      piece.dtype = DType::f32;
      piece.rank = static_cast<std::int32_t>(tensor.pieces.size());
      piece.cells = {{Box{{piece.rank * length}, {length}}, 0, {1}}};
      tensor.pieces.push_back(piece);
    }
  }
  Tensor tensor;

 private:
  std::deque<ArraySource> sources_;
};

std::optional<Explanation> tried(const ByRank& reference, const ByRank& candidate) {
  const TensorResult result;
  Subject subject;
  subject.pair.reference = &reference.tensor;
  subject.pair.candidate = &candidate.tensor;
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

TEST_CASE("only tensors that were put together rank by rank are looked at") {
  const ByRank reference({{4, 6}, {4, 6}});
  ByRank candidate({{1, 8}, {3, -2}});
  candidate.tensor.by_rank = false;
  CHECK_FALSE(tried(reference, candidate));
}

}  // namespace
}  // namespace ttcheck::explain
