// SPDX-License-Identifier: Apache-2.0
// How much of an op is made at once, and from which size on it is not.

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "core/recompute/ops.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::recompute {
namespace {

/// Zeros, as many as one may ask for.
class Zeros : public Source {
 public:
  std::uint64_t size() const override { return std::uint64_t{1} << 40; }
  void read(std::uint64_t, std::span<std::byte> out) const override {
    std::ranges::fill(out, std::byte{});
  }
  Where where(std::uint64_t offset) const override { return {"zeros", offset, ""}; }
};

struct Row {
  const char* what;
  std::string_view op;
  OpPart part;
  std::size_t slot;
  Shape shape;
  std::vector<Shape> arguments, gradients;
  std::vector<Shape> weight;  ///< one, or none
  std::int64_t preferred;     ///< of the first way; 0: it is not made
  bool classes = false;       ///< the second argument holds whole numbers, or the first alone
  Attributes::Items attributes = {};
};

void check(const std::vector<Row>& rows) {
  const Zeros zeros;
  for (const Row& row : rows) {
    INFO(std::string(row.op), ": ", std::string(row.what));
    std::deque<Tensor> tensors;
    std::deque<Operand> operands;
    const auto hold = [&](const Shape& shape, DType dtype = DType::f32) {
      return &operands.emplace_back(tensors.emplace_back(tests::tensor_of(zeros, dtype, shape)));
    };
    Call call;
    call.op = row.op;
    call.attributes = Attributes(row.attributes);
    for (std::size_t n = 0; n < row.arguments.size(); ++n) {
      const bool whole = row.classes && n + 1 == std::min<std::size_t>(2, row.arguments.size());
      call.arguments.push_back(hold(row.arguments[n], whole ? DType::i64 : DType::f32));
    }
    for (const Shape& shape : row.gradients) call.gradients.push_back(hold(shape));
    for (const Shape& shape : row.weight) call.weight = hold(shape);
    const Op* const op = find_op(row.op);
    REQUIRE(op != nullptr);
    const Target target{row.part, row.slot, row.shape};
    const bool forward = row.part == OpPart::output;
    const Formulas found = forward ? op->forward(call, target) : op->backward(call, target);
    REQUIRE(found.empty() == (row.preferred == 0));
    if (!found.empty()) CHECK(found.front().preferred == row.preferred);
  }
}

constexpr OpPart kOutput = OpPart::output, kArgument = OpPart::argument;
constexpr OpPart kWeight = OpPart::weight, kBias = OpPart::bias;

TEST_CASE("layers are made by rows that hold about 2^18 elements, 64 at most") {
  check({
      {"64 rows", "linear", kOutput, 0, {99, 4}, {{99, 3}}, {}, {{4, 3}}, 64 * 4},
      {"of wide inputs", "linear", kOutput, 0, {99, 4}, {{99, 5000}}, {}, {{4, 5000}}, 52 * 4},
      {"of wide outputs", "linear", kOutput, 0, {99, 5000}, {{99, 4}}, {}, {{5000, 4}}, 260000},
      {"one", "linear", kOutput, 0, {9, 4}, {{9, 262145}}, {}, {{4, 262145}}, 4},
      {"a weight", "linear", kWeight, 0, {4, 3}, {{5, 3}}, {{5, 4}}, {}, 1048575},
      {"a wide one", "linear", kWeight, 0, {4, 1048577}, {{5, 1048577}}, {{5, 4}}, {}, 1048577},
      {"a table", "embedding", kWeight, 0, {9, 3}, {{5}}, {{5, 3}}, {}, 1048575, true},
      {"a wide one",
       "embedding",
       kWeight,
       0,
       {9, 1048577},
       {{5}},
       {{5, 1048577}},
       {},
       1048577,
       true},
      {"losses", "cross_entropy", kOutput, 0, {5}, {{5, 3}, {5}}, {}, {}, 5461, true},
      {"of many classes", "cross_entropy", kOutput, 0, {5}, {{5, 20000}, {5}}, {}, {}, 1, true},
  });
}

TEST_CASE("rows and matrices of more than 2^24 elements are not made") {
  const std::int64_t most = std::int64_t{1} << 24;
  for (const std::int64_t more : {0, 1}) {
    const std::int64_t wide = most + more, half = most / 2 + more;
    const std::int64_t part = (most - 4) / 3 + 2 * more;  // even, and three of it fit or not
    const auto made = [&](std::int64_t preferred) { return more == 0 ? preferred : 0; };
    check({
        {"wide inputs", "linear", kOutput, 0, {1, 1}, {{1, wide}}, {}, {{1, wide}}, made(1)},
        {"wide outputs", "linear", kOutput, 0, {1, wide}, {{1, 1}}, {}, {{wide, 1}}, made(wide)},
        {"rows", "linear", kWeight, 0, {wide, 1}, {{1, 1}}, {{1, wide}}, {}, made(1 << 20)},
        {"columns", "linear", kWeight, 0, {1, wide}, {{1, wide}}, {{1, 1}}, {}, made(wide)},
        {"a bias", "linear", kBias, 0, {wide}, {{1, 1}}, {{1, wide}}, {}, made(wide)},
        {"a weight", "rmsnorm", kWeight, 0, {wide}, {{1, wide}}, {{1, wide}}, {}, made(wide)},
        {"halves of one", "swiglu", kOutput, 0, {1, half}, {{1, 2 * half}}, {}, {}, made(half)},
        {"queries of three in one",
         "rope",
         kOutput,
         0,
         {1, part},
         {{1, 3 * part}},
         {},
         {},
         made(part),
         false,
         {{"heads", "1"}, {"head_dim", std::to_string(part)}}},
        {"a row", "matmul", kOutput, 0, {1, 1}, {{1, wide}, {wide, 1}}, {}, {}, made(1)},
        {"a product",
         "matmul",
         kOutput,
         0,
         {4096 + more, 4096},
         {{4096 + more, 1}, {1, 4096}},
         {},
         {},
         made(most)},
        {"keys of one sequence",
         "attention",
         kArgument,
         1,
         {1, wide, 1},
         {{1, 1, 1}, {1, wide, 1}, {1, wide, 1}},
         {{1, 1, 1}},
         {},
         made(wide),
         false,
         {{"heads", "1"}}},
        {"classes", "cross_entropy", kOutput, 0, {1}, {{1, wide}, {1}}, {}, {}, made(1), true},
    });
  }
}

TEST_CASE("ids, labels, masks and gradients of losses are kept, or nothing is made") {
  for (const std::int64_t more : {0, 1}) {
    const std::int64_t whole = (1 << 20) + more, real = (1 << 17) + more;
    const auto made = [&](std::int64_t preferred) { return more == 0 ? preferred : 0; };
    check({
        {"ids", "embedding", kOutput, 0, {whole, 2}, {{whole}}, {}, {{3, 2}}, made(16384), true},
        {"labels",
         "cross_entropy",
         kOutput,
         0,
         {whole},
         {{whole, 1}, {whole}},
         {},
         {},
         made(16384),
         true},
        {"a mask",
         "cross_entropy",
         kOutput,
         0,
         {real},
         {{real, 1}, {real}, {real}},
         {},
         {},
         made(16384),
         true},
        {"gradients",
         "cross_entropy",
         kArgument,
         0,
         {real, 1},
         {{real, 1}, {real}},
         {{real}},
         {},
         made(16384),
         true},
    });
  }
}

}  // namespace
}  // namespace ttcheck::recompute
