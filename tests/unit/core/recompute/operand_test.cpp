// SPDX-License-Identifier: Apache-2.0
#include "core/recompute/operand.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <vector>

#include "tests/support/array_source.hpp"
#include "tests/support/held_tensor.hpp"

namespace ttcheck::recompute {
namespace {

using tests::ArraySource;
using tests::tensor_of;

TEST_CASE("what can be read: all values, real ones, in any order") {
  struct Row {
    const char* what;
    std::function<void(Tensor&)> change;
    bool readable = false;
  };
  const ArraySource source = ArraySource::of(std::vector<float>(4));
  const auto traced = [](double grain, std::int64_t left_out) {
    return [=](Tensor& tensor) {
      auto trace = std::make_shared<TraceRecord>();
      trace->grain = grain;
      trace->left_out = left_out;
      tensor.trace = std::move(trace);
    };
  };
  const Row rows[] = {
      {"all of it", [](Tensor&) {}, true},
      {"a record of which all is kept", traced(0, 0), true},
      {"of decimal text", traced(1e-4, 0)},
      {"of which some is left out", traced(0, 1)},
      {"statistics", [](Tensor& tensor) { tensor.stored = false; }},
      {"a hole", [](Tensor& tensor) { tensor.holes.push_back({{0}, {1}}); }},
      {"copies or addends", [](Tensor& tensor) { tensor.undeclared = true; }},
      {"complex numbers", [](Tensor& tensor) { tensor.dtype = DType::c32; }},
      {"packed numbers", [](Tensor& tensor) { tensor.dtype = DType::f4_e2m1; }},
      {"numbers of one byte", [](Tensor& tensor) { tensor.dtype = DType::u8; }, true},
      {"nothing at all", [](Tensor& tensor) { tensor.pieces.clear(); }},
      {"addends",
       [](Tensor& tensor) {
         tensor.terms = {tensor.pieces};
         tensor.reduce = Reduce::sum;
         tensor.pieces.clear();
       },
       true},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    Tensor tensor = tensor_of(source, DType::f32, {4});
    row.change(tensor);
    CHECK(Operand::readable(tensor) == row.readable);
  }
}

TEST_CASE("what is small is kept, and so may be read in its order alone") {
  struct Row {
    DType dtype;
    std::int64_t count;
    bool held;
  };
  const Row rows[] = {
      {DType::f32, 1 << 17, true},       {DType::f32, (1 << 17) + 1, false},
      {DType::i32, 1 << 20, true},       {DType::i32, (1 << 20) + 1, false},
      {DType::i32, (1 << 17) + 1, true},
  };
  for (const Row& row : rows) {
    CAPTURE(row.count);
    std::vector<std::int32_t> codes(static_cast<std::size_t>(row.count));
    codes.back() = row.dtype == DType::f32 ? 0x3f800000 : 1;
    ArraySource source = ArraySource::of(codes);
    const Tensor tensor = tensor_of(source, row.dtype, {row.count});
    CHECK(Operand::readable(tensor));
    const Operand operand(tensor);
    CHECK(operand.held().size() == (row.held ? codes.size() : 0));
    std::vector<double> last(2);
    operand.read(row.count - 2, last);
    CHECK(last == std::vector<double>{0, 1});
    source.broken_from = 0;  // what is kept needs no bytes any more
    source.broken_to = 4;
    if (row.held) operand.read(0, last);
    if (!row.held) CHECK_THROWS_AS(operand.read(0, last), Error);
    source.broken_to = 0;
    source.in_order = true;
    CHECK(Operand::readable(tensor) == row.held);
  }
}

TEST_CASE("values by ranges of the logical order, longer ones in parts") {
  constexpr std::int64_t kCount = 150000;  // more than is kept
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < kCount; ++i) numbers.push_back(static_cast<float>(i));
  const ArraySource source = ArraySource::of(numbers);
  const Tensor tensor = tensor_of(source, DType::f32, {3, 50000});
  const Operand operand(tensor);
  CHECK(operand.count() == kCount);
  CHECK(operand.width() == 50000);
  CHECK(operand.rows() == 3);
  CHECK(operand.held().empty());
  for (const auto& [begin, size] :
       {std::pair<std::int64_t, std::size_t>{0, 100000}, {7, 32768}, {49999, 65537}, {149999, 1}}) {
    std::vector<double> read(size, -1);
    operand.read(begin, read);
    bool right = true;
    for (std::size_t i = 0; i < size; ++i) {
      right = right && read[i] == static_cast<double>(begin) + static_cast<double>(i);
    }
    CHECK(right);
  }
}

TEST_CASE("widths of scalars and of nothing") {
  const ArraySource source = ArraySource::of(std::vector<float>{5});
  const Tensor scalar = tensor_of(source, DType::f32, {}),
               none = tensor_of(source, DType::f32, {3, 0});
  CHECK(Operand(scalar).width() == 1);
  CHECK(Operand(scalar).rows() == 1);
  CHECK(Operand(none).width() == 0);
  CHECK(Operand(none).rows() == 0);
}

TEST_CASE("a rank's own copy counts for that rank") {
  tests::HeldTensor held({3}, {{1, 2, 3}, {4, 5, 6}});
  held.tensor.undeclared = false;
  struct Row {
    std::optional<std::int32_t> rank;
    std::vector<double> values;
  };
  for (const Row& row : {Row{{}, {1, 2, 3}}, {0, {1, 2, 3}}, {1, {4, 5, 6}}, {2, {1, 2, 3}}}) {
    CAPTURE(row.values[0]);
    std::vector<double> read(3);
    Operand(held.tensor, row.rank).read(0, read);
    CHECK(read == row.values);
  }
}

TEST_CASE("copies differ where one bit of one does") {
  struct Row {
    const char* what;
    std::vector<std::vector<float>> ranks;
    bool differ;
  };
  const Row rows[] = {
      {"one holds it", {{1, 2}}, false},
      {"alike", {{1, 2}, {1, 2}, {1, 2}}, false},
      {"the last element", {{1, 2}, {1, 3}}, true},
      {"the last rank", {{1, 2}, {1, 2}, {0, 2}}, true},
      {"the sign of zero", {{0, 2}, {-0.0F, 2}}, true},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(copies_differ(tests::HeldTensor({2}, row.ranks).tensor) == row.differ);
  }
  std::vector<float> many(70000), other(many);
  CHECK_FALSE(copies_differ(tests::HeldTensor({70000}, {many, other}).tensor));
  other.back() = 1;
  CHECK(copies_differ(tests::HeldTensor({70000}, {many, other}).tensor));
}

TEST_CASE("a copy that holds a part is told by that part") {
  tests::HeldTensor held({4}, {{1, 2, 3, 4}, {7, 4}});
  held.tensor.undeclared = false;
  held.tensor.replicas[0].cells = {{Box{{2}, {2}}, 0, {1}}};
  CHECK(copies_differ(held.tensor));
  std::vector<double> read(4);
  Operand(held.tensor, 1).read(0, read);
  CHECK(read == std::vector<double>{1, 2, 7, 4});
}

}  // namespace
}  // namespace ttcheck::recompute
