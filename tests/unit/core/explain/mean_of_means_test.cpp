// SPDX-License-Identifier: Apache-2.0
#include "core/explain/mean_of_means.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

/// Two micro-batches of one and three tokens. Each addend is what the micro-batch gave over its own
/// tokens: with N = 4, M = 2, the reference is 2 (1/4 first + 3/4 second), of a sum.
struct Batches {
  tests::PairBeyond pair{{2}, {6.5, 14}, {1, 4}, 0, DType::f64, DType::f64};
  Tensor second = pair.hold({2}, {4, 8}, DType::f64);
  Tensor tokens;

  explicit Batches(DType dtype = DType::i64, std::vector<double> values = {5, -100, -100, 7, 8, 9},
                   Shape shape = {2, 3}) {
    pair.candidate.terms = {pair.candidate.pieces, second.pieces};
    pair.candidate.term_replicas.resize(2);
    pair.candidate.pieces.clear();
    pair.candidate.reduce = Reduce::sum;
    tokens = pair.hold(shape, values, dtype);
    const Piece all = tokens.pieces[0];
    tokens.pieces.clear();
    for (const std::int64_t row : {1, 0}) {  // in whatever order
      Piece& piece = tokens.pieces.emplace_back(all);
      Extents size = shape, lo(shape.size(), 0);
      size[0] = 1;
      lo[0] = row;
      const Extents strides = row_major_strides(shape);
      piece.cells = {{Box{lo, size}, row * strides[0], strides}};
    }
    pair.subject.beside = {&tokens};
  }

  std::optional<Explanation> tried() const { return mean_of_means(pair.subject); }
};

TEST_CASE("micro-batches by their own tokens: the sum by all tokens is the reference") {
  const auto found = Batches().tried();
  REQUIRE(found);
  CHECK(found->code == Code::mean_of_means);
  CHECK(found->hypothesis.name == "mean-of-means");
  CHECK(tests::parameter_of<std::vector<std::int64_t>>(*found, "n") ==
        std::vector<std::int64_t>{1, 3});
  CHECK(found->hypothesis.residual == 0);
  CHECK(found->penalty == 1.5);
  CHECK(found->words == "each micro-batch was normalised by its own tokens (1, 3), not by all 4");
}

TEST_CASE("what counts as a token, and where nothing can be told") {
  struct Row {
    const char* what;
    std::function<void(Batches&)> change;
    std::optional<double> left = {};  ///< |sum - reference|^2; nothing: no explanation
  };
  const Row rows[] = {
      {"a mean takes each once", [](Batches& b) { b.pair.candidate.reduce = Reduce::avg; },
       3.25 * 3.25 + 49},
      {"a largest is no sum", [](Batches& b) { b.pair.candidate.reduce = Reduce::max; }},
      {"one addend", [](Batches& b) { b.pair.candidate.terms.resize(1); }},
      {"a map",
       [](Batches& b) {
         static const ValueMap map;
         b.pair.subject.pair.reference_map = &map;
       }},
      {"complex numbers", [](Batches& b) { b.pair.candidate.dtype = DType::c64; }},
      {"no tokens", [](Batches& b) { b.pair.subject.beside.clear(); }},
      {"tokens with a hole", [](Batches& b) { b.tokens.holes = {{{0, 0}, {1, 1}}}; }},
      {"in one piece", [](Batches& b) { b.tokens.pieces.pop_back(); }},
      {"of no rows", [](Batches& b) { b.tokens.shape = {0, 3}; }},
      {"of rows of nothing", [](Batches& b) { b.tokens.shape = {2, 0}; }},
      {"a count of all",
       [](Batches& b) {
         b.tokens = b.pair.hold({}, {4}, DType::i64);
         b.tokens.pieces.push_back(b.tokens.pieces[0]);
         for (Piece& piece : b.tokens.pieces) piece.cells = {{Box{{}, {}}, 0, {}}};
       }},
      {"an output of nothing",
       [](Batches& b) { b.pair.reference.shape = b.pair.candidate.shape = {0}; }},
      {"complex ones", [](Batches& b) { b.tokens.dtype = DType::c64; }},
      {"cut along the other dim, too",
       [](Batches& b) { b.tokens.pieces[0].cells[0].box.size[1] = 2; }},
      {"of two boxes",
       [](Batches& b) { b.tokens.pieces[0].cells.push_back(b.tokens.pieces[0].cells[0]); }},
      {"a reference of zeros",
       [](Batches& b) { b.pair.reference = b.pair.hold({2}, {0, 0}, DType::f64); }},
      {"what is not finite",
       [](Batches& b) { b.pair.reference = b.pair.hold({2}, {INFINITY, 1}, DType::f64); }},
      {"the better of two", [](Batches& b) { b.pair.subject.beside = {&b.tokens, &b.tokens}; }, 0},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Batches batches;
    row.change(batches);
    const auto found = batches.tried();
    REQUIRE(found.has_value() == row.left.has_value());
    if (!found) continue;
    CHECK(found->hypothesis.residual == doctest::Approx(std::sqrt(*row.left / (6.5 * 6.5 + 196))));
  }
}

TEST_CASE("labels leave out -100, masks and losses 0") {
  struct Row {
    const char* what;
    DType dtype;
    std::vector<double> values;
    std::vector<std::int64_t> counts;  ///< none: no explanation
  };
  const Row rows[] = {
      {"labels", DType::i64, {5, -100, -100, 0, 8, 9}, {1, 3}},
      {"short labels", DType::i16, {0, -100, -100, 0, 0, 0}, {1, 3}},
      {"a mask of bytes", DType::u8, {1, 0, 0, 1, 1, 1}, {1, 3}},
      {"a mask of truths", DType::boolean, {0, 0, 1, 1, 0, 1}, {1, 2}},
      {"losses", DType::f32, {0.5, 0, 0, -100, 2, 3}, {1, 3}},
      {"as many of each", DType::i64, {5, -100, -100, 7, -100, -100}, {}},
      {"none of any", DType::f32, {0, 0, 0, 0, 0, 0}, {}},
      {"none of one", DType::f32, {0, 0, 0, 1, 1, 1}, {0, 3}},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    const auto found = Batches(row.dtype, row.values).tried();
    REQUIRE(found.has_value() == !row.counts.empty());
    if (!found) continue;
    CHECK(tests::parameter_of<std::vector<std::int64_t>>(*found, "n") == row.counts);
  }
}

TEST_CASE("of 2^16 elements at most, tokens and what is made of them") {
  for (const std::int64_t columns : {32768, 32769}) {
    CAPTURE(columns);
    const auto count = static_cast<std::size_t>(2 * columns);
    // One token in the first row, two in the second.
    std::vector<double> tokens(count);
    tokens[0] = tokens[count - 2] = tokens[count - 1] = 1;
    CHECK(Batches(DType::f32, tokens, {2, columns}).tried().has_value() == (columns == 32768));
    Batches batches;
    tests::PairBeyond& pair = batches.pair;
    const Shape shape = {2, columns};
    pair.reference = pair.hold(shape, std::vector<double>(count, 6.5), DType::f64);
    const Tensor first = pair.hold(shape, std::vector<double>(count, 1), DType::f64);
    const Tensor second = pair.hold(shape, std::vector<double>(count, 4), DType::f64);
    pair.candidate.shape = shape;
    pair.candidate.terms = {first.pieces, second.pieces};
    const auto found = batches.tried();
    REQUIRE(found.has_value() == (columns == 32768));
    if (found) CHECK(found->hypothesis.residual == 0);
  }
}

TEST_CASE("addends have the dtype that they are stored in") {
  Batches batches;
  tests::PairBeyond& pair = batches.pair;
  const Tensor first = pair.hold({2}, {1, 4}, DType::bf16),
               second = pair.hold({2}, {4, 8}, DType::bf16);
  pair.candidate.dtype = DType::bf16;
  pair.candidate.terms = {first.pieces, second.pieces};
  REQUIRE(batches.tried());
  CHECK(batches.tried()->hypothesis.residual == 0);
}

TEST_CASE("the tensor that fits best counts the tokens") {
  Batches batches;
  const Batches other(DType::f32, {1, 1, 0, 1, 1, 1});
  for (const bool first : {true, false}) {
    batches.pair.subject.beside = {&other.tokens, &batches.tokens};
    if (first) std::swap(batches.pair.subject.beside[0], batches.pair.subject.beside[1]);
    CHECK(tests::parameter_of<std::vector<std::int64_t>>(*batches.tried(), "n") ==
          std::vector<std::int64_t>{1, 3});
  }
}

}  // namespace
}  // namespace ttcheck::explain
