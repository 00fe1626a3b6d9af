// SPDX-License-Identifier: Apache-2.0
#include "core/explain/byte_order.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "core/model/decode.hpp"
#include "tests/support/pair_beyond.hpp"

namespace ttcheck::explain {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Read with the bytes in the other order.
double turned(DType dtype, double value) {
  std::uint64_t code = code_of(dtype, value), other = 0;
  for (int byte = 0; byte < bits(dtype) / 8; ++byte, code >>= 8) other = other << 8 | (code & 0xff);
  return value_of(dtype, other);
}

std::vector<double> all_turned(DType dtype, std::vector<double> values) {
  for (double& value : values) value = turned(dtype, value);
  return values;
}

bool explained(const std::vector<double>& reference, const std::vector<double>& candidate,
               DType left = DType::f32, DType right = DType::f32) {
  tests::PairBeyond pair({std::ssize(reference)}, reference, candidate, 0, left, right);
  const auto found = byte_order(pair.subject, pair.seen());
  if (!found) return false;
  CHECK(found->code == Code::byte_order);
  CHECK(found->hypothesis.name == "byte-order");
  CHECK(found->hypothesis.residual == 0);
  CHECK(found->penalty == 1.1);
  CHECK(found->words == "the candidate's " + std::string(name(right)) +
                            " are the reference's with their bytes in the other order");
  return true;
}

TEST_CASE("types whose bytes have an order") {
  const std::vector<double> values = {1, 2, 3, 5, 7, 11};
  struct Row {
    DType dtype;
    bool found;
  };
  for (const Row& row : {Row{DType::f16, true},
                         {DType::bf16, true},
                         {DType::f32, true},
                         {DType::f64, true},
                         {DType::i16, true},
                         {DType::u16, true},
                         {DType::i32, true},
                         {DType::u32, true},
                         {DType::i64, false},
                         {DType::u64, false}}) {
    INFO(std::string(name(row.dtype)));
    CHECK(explained(values, all_turned(row.dtype, values), row.dtype, row.dtype) == row.found);
  }
  CHECK_FALSE(explained(values, {9, 9, 9, 9, 9, 9}, DType::u8, DType::u8));
  CHECK_FALSE(explained({0, 0, 0, 0}, {2, 2, 2, 2}, DType::f4_e2m1, DType::f4_e2m1));
  CHECK_FALSE(explained(values, all_turned(DType::bf16, values), DType::f16, DType::bf16));
}

TEST_CASE("every number is turned, at least four are, and few were lost") {
  const DType f32 = DType::f32;
  const auto t = [](double value) { return turned(DType::f32, value); };
  const std::vector<double> four = {1, 2, 3, 5};
  std::vector<double> many(70, 3), wrong;
  wrong = all_turned(f32, many);
  CHECK(explained(many, wrong));
  wrong.back() = 4;  // beyond the elements that are listed
  CHECK_FALSE(explained(many, wrong));
  struct Row {
    const char* what;
    std::vector<double> reference, candidate;
    bool found;
  };
  const Row rows[] = {
      {"four", four, all_turned(f32, four), true},
      {"three", {1, 2, 3}, all_turned(f32, {1, 2, 3}), false},
      {"three and a zero", {1, 2, 3, 0}, all_turned(f32, {1, 2, 3, 0}), false},
      {"four and a zero", {1, 2, 3, 5, 0}, all_turned(f32, {1, 2, 3, 5, 0}), true},
      {"one as it was", {1, 2, 3, 5, 7}, {t(1), t(2), t(3), t(5), 7}, false},
      {"one wrong", {1, 2, 3, 5, 7}, {t(1), t(2), t(3), t(5), 1}, false},
      {"one became zero", {1, 2, 3, 5, 1}, {t(1), t(2), t(3), t(5), 0}, false},
      {"a zero became a number", {1, 2, 3, 5, 0}, {t(1), t(2), t(3), t(5), 1}, false},
      {"a zero of the other sign", {1, 2, 3, 5, 0}, {t(1), t(2), t(3), t(5), -0.0}, true},
      {"NaN became a number", {1, 2, 3, 5, kNan}, {t(1), t(2), t(3), t(5), 7}, false},
      {"NaN became what its bytes say",
       {1, 2, 3, 5, kNan},
       {t(1), t(2), t(3), t(5), t(kNan)},
       true},
      {"what would be NaN", {1, 2, 3, 5, 7}, {t(1), t(2), t(3), t(5), t(kNan)}, false},
      {"three and NaN on both sides", {1, 2, 3, kNan}, {t(1), t(2), t(3), kNan}, false},
      {"one of eight was lost",
       {1, 2, 3, 5, 7, 9, 10, 11},
       {t(1), t(2), t(3), t(5), t(7), t(9), t(10), kNan},
       true},
      {"one of seven", {1, 2, 3, 5, 7, 9, 10}, {t(1), t(2), t(3), t(5), t(7), t(9), kNan}, false},
      {"zeros alone", {0, 0, 0, 0}, {t(1), t(2), t(3), t(5)}, false},
  };
  for (const Row& row : rows) {
    INFO(std::string(row.what));
    CHECK(explained(row.reference, row.candidate) == row.found);
  }
}

TEST_CASE("codes that read alike both ways count neither for nor against") {
  const double both = value_of(DType::f16, 0x3c3c);
  const auto t = [](double value) { return turned(DType::f16, value); };
  CHECK(explained({1, 2, 3, 5, both}, {t(1), t(2), t(3), t(5), both}, DType::f16, DType::f16));
  CHECK_FALSE(explained({1, 2, 3, both}, {t(1), t(2), t(3), both}, DType::f16, DType::f16));
}

}  // namespace
}  // namespace ttcheck::explain
