// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/model/decode.hpp"
#include "formats/dumps/printed_tensor.hpp"

namespace ttcheck::formats {
namespace {

std::vector<double> decoded(const PrintedTensor& printed, DType dtype) {
  std::vector<double> values(static_cast<std::size_t>(printed.count) * (is_complex(dtype) ? 2 : 1));
  to_doubles(dtype, printed.values.data(), printed.count, values.data());
  return values;
}

// Texts as torch 2.13 prints them, numbers as it was given them.

TEST_CASE("printed numbers are read in the tensor's dtype, with how far apart they can be") {
  const auto printed = parse_printed(
      "tensor([[1.0000e+00, -2.5000e-01],\n        [3.4028e+38, 1.4013e-45]], "
      "device='cuda:0',\n       grad_fn=<MulBackward0>)",
      DType::f32);
  CHECK(printed.dims == std::vector<PrintedDim>{{2, 0, false}, {2, 0, false}});
  CHECK(decoded(printed, DType::f32) ==
        std::vector<double>{1, -0.25, double{3.4028e38F}, double{1.4013e-45F}});
  CHECK(printed.grain == doctest::Approx(1e-4));
  const auto half = parse_printed("tensor([9.9976e-02], dtype=torch.float16)", DType::f16);
  CHECK(decoded(half, DType::f16) == std::vector<double>{0.0999755859375});
  CHECK(half.grain == 0);
  CHECK(
      parse_printed("tensor([1.0000e+00, 2.0000e+00], dtype=torch.bfloat16)", DType::bf16).grain ==
      0);
}

TEST_CASE("digits behind the point are as fine as the numbers are large") {
  const auto fixed =
      parse_printed("tensor([[ 0.1235, 12.5000],\n        [ 0.0000,  3.0000]])", DType::f32);
  const double rms = std::sqrt((0.1235 * 0.1235 + 12.5 * 12.5 + 9) / 4);
  CHECK(fixed.grain == doctest::Approx(1e-4 / rms));
  CHECK(parse_printed("tensor([1., 2.])", DType::f32).grain == 0);
  CHECK(parse_printed("tensor(0.)", DType::f32).grain == 0);
}

TEST_CASE("what is no finite real number is read, too") {
  const auto odd =
      decoded(parse_printed("tensor([       nan,        inf,       -inf, 1.5000e+00])", DType::f32),
              DType::f32);
  REQUIRE(odd.size() == 4);
  CHECK(std::isnan(odd[0]));
  CHECK(odd[1] == HUGE_VAL);
  CHECK(odd[2] == -HUGE_VAL);
  const auto complex = decoded(
      parse_printed("tensor([1.0000e+00+2.0000e+00j, -0.0000e+00-5.0000e-01j,        nan+infj])",
                    DType::c64),
      DType::c64);
  REQUIRE(complex.size() == 6);
  CHECK(complex[1] == 2);
  CHECK(complex[3] == -0.5);
  CHECK(std::isnan(complex[4]));
  CHECK(complex[5] == HUGE_VAL);
  CHECK(decoded(parse_printed("tensor([ True, False])", DType::boolean), DType::boolean) ==
        std::vector<double>{1, 0});
  const auto large = parse_printed("tensor([9223372036854775807])", DType::i64);
  CHECK(static_cast<unsigned>(large.values.at(7)) == 0x7f);
  CHECK(static_cast<unsigned>(large.values.at(0)) == 0xff);
}

TEST_CASE("a single number, none at all, and text around it") {
  CHECK(printed_number("tensor(-3.4028e+38)") == -3.4028e38);
  CHECK(printed_number("tensor(2., device='cuda:0', dtype=torch.bfloat16)") == 2);
  CHECK_FALSE(printed_number("None"));
  CHECK_FALSE(printed_number("tensor([1.])"));
  const auto none = parse_printed("tensor([], size=(0, 3))", DType::f32);
  CHECK(none.count == 0);
  CHECK(parts_of(none, {0, 3}).cells.empty());
  CHECK_THROWS_AS(parts_of(none, {2, 3}), Error);
  CHECK(parse_printed("Parameter containing:\ntensor([1.0000e+00], requires_grad=True)", DType::f32)
            .count == 1);
  CHECK(parse_printed("DTensor(local_tensor=tensor([1, 2]), device_mesh=1)", DType::i32).count ==
        2);
}

TEST_CASE("dots stand for what is between the first and the last of a dimension") {
  const auto printed = parse_printed(
      "tensor([[   0,    1,    2,  ...,  997,  998,  999],\n"
      "        [1000, 1001, 1002,  ..., 1997, 1998, 1999]])",
      DType::i64);
  CHECK(printed.dims == std::vector<PrintedDim>{{2, 0, false}, {3, 3, true}});
  const PrintedParts parts = parts_of(printed, {2, 1000});
  CHECK(parts.holes == std::vector<Box>{{{0, 3}, {2, 994}}});
  CHECK(parts.cells ==
        std::vector<Cell>{{{{0, 0}, {2, 3}}, 0, {6, 1}}, {{{0, 997}, {2, 3}}, 3, {6, 1}}});
  const auto both = parse_printed("tensor([[0, ..., 9],\n ...,\n [90, ..., 99]])", DType::i64);
  const PrintedParts corners = parts_of(both, {10, 10});
  CHECK(corners.cells.size() == 4);
  CHECK(corners.cells.back() == Cell{{{9, 9}, {1, 1}}, 3, {2, 1}});
  std::int64_t open = 0;
  for (const Box& hole : corners.holes) open += volume(hole);
  CHECK(open == 96);
  CHECK_THROWS_AS(parts_of(printed, {2, 6}), Error);
  CHECK_THROWS_AS(parts_of(printed, {3, 1000}), Error);
  CHECK_THROWS_AS(parts_of(printed, {2000}), Error);
}

TEST_CASE("where dots stand for all numbers there are no parts") {
  const auto all = parse_printed("tensor([...], size=(10,))", DType::f32);  // edgeitems=0
  CHECK(all.count == 0);
  CHECK(parts_of(all, {0}).cells.empty());
  for (const Shape& shape : {Shape{10}, Shape{2, 10}}) {
    CHECK_THROWS_WITH_AS(parts_of(all, shape), doctest::Contains("none is printed"), Error);
  }
  const auto rows = parse_printed("tensor([[...],\n [...]])", DType::f32);
  CHECK_THROWS_WITH_AS(parts_of(rows, {2, 10}), doctest::Contains("none is printed"), Error);
}

TEST_CASE("text that is no tensor is refused") {
  for (const char* text :
       {"", "tensor", "tensor(", "tensor()", "tensor([", "tensor([1", "tensor([1, [2]])",
        "tensor([[1], 2])", "tensor([[1], [2, 3]])", "tensor(...)", "tensor([1, ..., ..., 2])",
        "tensor([x])", "tensor([1x])", "tensor([--1])", "tensor([1.5])", "tensor([99999999999])",
        "tensor([[], 1])", "tensor([True])", "tensor(,1)"}) {
    CHECK_THROWS_AS(parse_printed(text, DType::i32), Error);
  }
  CHECK_THROWS_AS(parse_printed("tensor([1.0000e+00+2.0000e+00])", DType::c64), Error);
  CHECK_THROWS_AS(parse_printed("tensor([1])", DType::f4_e2m1), Error);
  std::string deep = "tensor(" + std::string(100, '[');
  CHECK_THROWS_AS(parse_printed(deep, DType::i32), Error);
  std::string text = "0, ..., 0";
  for (int i = 0; i < 13; ++i) text = "[" + text + "], ..., [" + text + "]";
  const auto many = parse_printed("tensor([" + text + "])", DType::u8);
  CHECK_THROWS_AS(parts_of(many, Shape(14, 3)), Error);
}

}  // namespace
}  // namespace ttcheck::formats
