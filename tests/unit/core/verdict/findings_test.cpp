// SPDX-License-Identifier: Apache-2.0
// Findings of results: which code copies that differ get.

#include "core/verdict/findings.hpp"

#include <doctest/doctest.h>

#include "tests/support/array_source.hpp"

namespace ttcheck::verdict {
namespace {

/// A tensor that rank 0 and 1 hold, with copies on 2 and 3.
Tensor shared() {
  Tensor tensor;
  tensor.identity.name = "embedding.weight";
  tensor.shape = {2};
  for (const std::int32_t rank : {0, 1, 2, 3}) {
    Piece piece;
    piece.rank = rank;
    piece.cells = {{{{rank % 2}, {1}}, 0, {1}}};
    (rank < 2 ? tensor.pieces : tensor.replicas).push_back(piece);
  }
  return tensor;
}

TEST_CASE("copies on other pipeline stages are ties, those beside it replicas") {
  const Mesh stages{{{"pp", 2}, {"tp", 2}}, {}, {}};
  const Finding tie = replica_finding(shared(), 7, {3}, stages, "candidate");
  CHECK(tie.code == Code::tie_mismatch);
  CHECK(tie.ranks == std::vector<std::int32_t>{3});
  CHECK(tie.message.find("tied copies of the candidate") != std::string::npos);
  CHECK(replica_finding(shared(), 7, {1, 3}, stages, "candidate").code == Code::replica_mismatch);

  const Mesh beside{{{"dp", 2}, {"tp", 2}}, {}, {}};
  CHECK(replica_finding(shared(), 7, {3}, beside, "candidate").code == Code::replica_mismatch);
  CHECK(replica_finding(shared(), 7, {9}, stages, "candidate").code == Code::replica_mismatch);
}

TEST_CASE("what is said of tensors that did not meet") {
  Tensor left = shared(), right = shared();
  right.shape = {2, 3};
  right.dtype = DType::bf16;
  const Finding shape = shape_finding(left, right, 7);
  CHECK(shape.code == Code::shape_or_dtype);
  CHECK(shape.severity == Severity::error);
  CHECK(shape.step == 7);
  CHECK(shape.tensor == "embedding.weight");
  CHECK_FALSE(shape.incomplete);
  CHECK(shape.message == "shape f32 [2] in the reference, bf16 [2, 3] in the candidate");

  const Finding guess = guess_finding(left, right, 7, 12);
  CHECK(guess.code == Code::missing_rank);
  CHECK(guess.severity == Severity::note);
  CHECK(guess.step == 7);
  CHECK(guess.incomplete);
  CHECK(guess.message.starts_with("12 tensors are not compared"));
  CHECK(guess.message.ends_with("at most [2] in the reference, [2, 3] in the candidate"));

  for (const Severity severity : {Severity::note, Severity::warning, Severity::error}) {
    const Finding alone = leftover_finding(left, 3, Code::missing, severity);
    CHECK(alone.code == Code::missing);
    CHECK(alone.severity == severity);
    CHECK(alone.step == 3);
    CHECK(alone.tensor == "embedding.weight");
    CHECK_FALSE(alone.incomplete);
  }
  const Finding remark = note(Code::config, 5, "as it is");
  CHECK(remark.code == Code::config);
  CHECK(remark.severity == Severity::note);
  CHECK(remark.step == 5);
  CHECK(remark.message == "as it is");
  CHECK_FALSE(remark.incomplete);
}

TEST_CASE("a copy without a rank is named by its file") {
  const auto source = tests::ArraySource::of(std::vector<float>{1, 2});
  Tensor tensor = tests::tensor_of(source, DType::f32, {2});
  REQUIRE(tensor.pieces.at(0).rank == kNoRank);
  Piece copy = tensor.pieces[0];
  copy.rank = 1;
  tensor.replicas.push_back(copy);
  const std::string file = tensor.pieces[0].where().file;
  const Finding ranked = replica_finding(tensor, {}, {1}, {}, "candidate");
  CHECK(ranked.message == "replicas of the candidate differ: rank 1 not as the copy in " + file);
  tensor.replicas[0].rank = kNoRank;
  const Finding unranked = replica_finding(tensor, {}, {kNoRank}, {}, "candidate");
  CHECK(unranked.message.find("-1") == std::string::npos);
  CHECK(unranked.ranks.empty());
  tensor.replicas.push_back(tensor.replicas[0]);
  const Finding either = replica_finding(tensor, {}, {kNoRank}, {}, "candidate");
  CHECK(either.message == "replicas of the candidate differ: a copy not as the copy in " + file);
}

}  // namespace
}  // namespace ttcheck::verdict
