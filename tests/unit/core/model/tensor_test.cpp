// SPDX-License-Identifier: Apache-2.0
#include "core/model/tensor.hpp"

#include <doctest/doctest.h>

#include <vector>

namespace ttcheck {
namespace {

using Ranks = std::vector<std::int32_t>;

std::vector<Piece> held_by(const Ranks& ranks) {
  std::vector<Piece> pieces;
  for (const std::int32_t rank : ranks) {
    Piece piece;
    piece.rank = rank;
    pieces.push_back(piece);
  }
  return pieces;
}

TEST_CASE("the ranks of a tensor are all that hold a part of it, once each, ascending") {
  struct Row {
    Ranks pieces, replicas;
    std::vector<Ranks> terms, term_replicas;
    Ranks expected;
  };
  for (const Row& row :
       std::vector<Row>{{{}, {}, {}, {}, {}},
                        {{kNoRank}, {kNoRank}, {{kNoRank}}, {}, {}},
                        {{0}, {}, {}, {}, {0}},
                        {{3, 1, 3}, {}, {}, {}, {1, 3}},
                        {{}, {2, 0}, {}, {}, {0, 2}},
                        {{}, {}, {{5, 4}, {1}}, {}, {1, 4, 5}},
                        {{}, {}, {}, {{9}, {8, 9}}, {8, 9}},
                        {{4, kNoRank}, {0}, {{7}, {2}}, {{6}, {0}}, {0, 2, 4, 6, 7}}}) {
    Tensor tensor;
    tensor.pieces = held_by(row.pieces);
    tensor.replicas = held_by(row.replicas);
    for (const Ranks& ranks : row.terms) tensor.terms.push_back(held_by(ranks));
    for (const Ranks& ranks : row.term_replicas) tensor.term_replicas.push_back(held_by(ranks));
    CHECK(ranks_of(tensor) == row.expected);
  }
}

}  // namespace
}  // namespace ttcheck
