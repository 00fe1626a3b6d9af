// SPDX-License-Identifier: Apache-2.0
#include "core/diff/meet_axis_by_values.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

#include "tests/support/held_tensor.hpp"

namespace ttcheck::diff {
namespace {

using tests::HeldTensor;
using ByRank = std::vector<std::vector<float>>;

/// Four ranks, tp the faster axis, that hold rows of tensors of two rows.
class Rows {
 public:
  explicit Rows(const std::vector<ByRank>& all) {
    mesh_.axes = {{"dp", 2}, {"tp", 2}};
    for (const ByRank& by_rank : all) {
      pairs_.push_back({tensors.size(), others_.size(), "same", nullptr});
      tensors.push_back(held_.emplace_back(Shape{1, 1}, by_rank).tensor);
      others_.push_back(held_.emplace_back(Shape{2, 1}, ByRank{{0, 0}}).tensor);
    }
  }

  CutTotal cut(bool reference = true) {
    return cut_by_values(tensors, others_, pairs_, reference, mesh_);
  }

  std::vector<Tensor> tensors;

 private:
  std::deque<HeldTensor> held_;
  std::vector<Tensor> others_;
  std::vector<align::PairIndex> pairs_;
  Mesh mesh_;
};

std::vector<std::int32_t> ranks_of_rows(const Tensor& tensor) {
  std::vector<std::int32_t> ranks;
  for (const Piece& piece : tensor.pieces) ranks.push_back(piece.rank);
  return ranks;
}

const ByRank kAlongTp = {{1}, {2}, {1}, {2}};
const ByRank kAlongDp = {{1}, {1}, {2}, {2}};
const ByRank kUnlike = {{1}, {2}, {3}, {4}};
const ByRank kTwoAlike = {{1}, {2}, {1}, {1}};

TEST_CASE("the axis along which alone ranks are unlike is the one that is cut") {
  for (const bool reference : {true, false}) {
    Rows rows({kAlongTp, kAlongDp});
    const CutTotal cut = rows.cut(reference);
    CHECK(cut.tensors == 2);
    CHECK(cut.bytes == 8);
    CHECK(rows.tensors[0].shape == Shape{2, 1});
    CHECK(ranks_of_rows(rows.tensors[0]) == std::vector<std::int32_t>{0, 1});
    CHECK(ranks_of_rows(rows.tensors[1]) == std::vector<std::int32_t>{0, 2});
  }
}

TEST_CASE("what is unlike everywhere is cut as most of the others are") {
  Rows rows({kUnlike, kAlongDp, kAlongTp, kAlongDp, kTwoAlike});
  CHECK(rows.cut().tensors == 5);
  CHECK(ranks_of_rows(rows.tensors[0]) == std::vector<std::int32_t>{0, 2});
  CHECK(ranks_of_rows(rows.tensors[2]) == std::vector<std::int32_t>{0, 1});
  CHECK(ranks_of_rows(rows.tensors[4]) == std::vector<std::int32_t>{0, 2});
}

TEST_CASE("where nothing proves an axis, or as many prove another, nothing is cut by guess") {
  Rows alone({kUnlike, kTwoAlike});
  CHECK(alone.cut().tensors == 0);
  CHECK(alone.tensors[0].shape == Shape{1, 1});
  Rows tie({kUnlike, kAlongDp, kAlongTp});
  CHECK(tie.cut().tensors == 2);
  CHECK(tie.tensors[0].shape == Shape{1, 1});
}

}  // namespace
}  // namespace ttcheck::diff
