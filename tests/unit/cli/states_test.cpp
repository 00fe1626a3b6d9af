// SPDX-License-Identifier: Apache-2.0
// Two stored states, as people bring them: what diff says of weights that training left.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "cli/diff.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/stored_values.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::cli {
namespace {

constexpr int kLayers = 6;
constexpr std::size_t kRows = 32, kColumns = 32;

using Values = std::vector<double>;
using Change = std::function<double(double value, int layer, std::size_t at)>;

const char* stored_name(DType dtype) {
  if (dtype == DType::bf16) return "BF16";
  return dtype == DType::f16 ? "F16" : "F32";
}

/// Projections of six layers, each value as `change` makes it of what was drawn.
std::string file(const tests::TempDir& dir, const std::string& name, DType dtype,
                 const Change& change) {
  std::mt19937 engine(11);
  std::string header, data;
  for (int layer = 0; layer < kLayers; ++layer) {
    Values values;
    for (std::size_t i = 0; i < kRows * kColumns; ++i) {
      const double drawn = static_cast<double>(engine()) / 4294967296.0 - 0.5;
      values.push_back(change(drawn / 10, layer, i));
    }
    const std::vector<std::byte> bytes = tests::stored_values(dtype, values);
    header += fmt::format(
        R"({}"layers.{}.up.weight":{{"dtype":"{}","shape":[{},{}],"data_offsets":[{},{}]}})",
        header.empty() ? "" : ",", layer, stored_name(dtype), kRows, kColumns, data.size(),
        data.size() + bytes.size());
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return dir.write(name, tests::safetensors_of("{" + header + "}", data));
}

constexpr std::size_t kPinned = 100;  ///< where each layer has a number that bf16 holds

double same(double value, int, std::size_t at) { return at == kPinned ? 0.0625 : value; }

/// Another training: every value moved by up to `far` of a usual one.
Change moved(double far) {
  return [far](double value, int layer, std::size_t at) {
    const double way = std::sin(static_cast<double>(at) * 12.9898 + layer * 78.233);
    return same(value, layer, at) + far * 0.05 * way;
  };
}

Verdict diff_of(DType dtype, const Change& reference, const Change& candidate) {
  const tests::TempDir dir;
  Options options;
  options.words = {file(dir, "a.safetensors", dtype, reference),
                   file(dir, "b.safetensors", dtype, candidate)};
  return diff(options);
}

std::int64_t count(const Verdict& verdict, Code code) {
  return std::ranges::count(verdict.findings, code, &Finding::code);
}

TEST_CASE("A1: weights in bf16 that training moved by a little are no noise") {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const Verdict verdict = diff_of(dtype, same, moved(0.01));
    CHECK(verdict.outcome == Outcome::diverged);
    REQUIRE(verdict.relation);
    CHECK(verdict.relation->kind == RelationKind::trained_apart);
    CHECK(verdict.relation->weights == doctest::Approx(0.0128).epsilon(0.2));
    CHECK(count(verdict, Code::trained_apart) == 1);
    CHECK(count(verdict, Code::odd_one_out) == 0);
    CHECK(std::ranges::count(verdict.findings, Severity::error, &Finding::severity) == 1);
  }
}

TEST_CASE("values that fp16 holds as subnormal numbers are turned by one unit of theirs") {
  const auto small = [](double value, int layer, std::size_t at) {
    const bool here = at == kPinned && layer < 3;
    return here ? 5 * 0x1p-24 : value;
  };
  const auto turned = [&](double value, int layer, std::size_t at) {
    const bool here = at == kPinned && layer < 3;
    return here ? 6 * 0x1p-24 : small(value, layer, at);
  };
  const Verdict verdict = diff_of(DType::f16, small, turned);
  CHECK(verdict.outcome == Outcome::noise);
  REQUIRE(verdict.relation);
  CHECK(verdict.relation->kind == RelationKind::same_training);
}

TEST_CASE("A1: one projection x 1.1, or one row of zeros, among weights that training moved") {
  const Change apart = moved(0.01);
  const auto scaled = [&](double value, int layer, std::size_t at) {
    return apart(value, layer, at) * (layer == 4 ? 1.2 : 1);
  };
  const auto zeroed = [&](double value, int layer, std::size_t at) {
    return layer == 2 && at / kColumns == 7 ? 0 : apart(value, layer, at);
  };
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const Verdict one = diff_of(dtype, same, scaled);
    REQUIRE(one.first);
    CHECK(one.first->tensor == "layers.4.up.weight");
    CHECK(count(one, Code::odd_one_out) == 1);
    CHECK(count(one, Code::trained_apart) == 1);
    const Verdict other = diff_of(dtype, same, zeroed);
    REQUIRE(other.first);
    CHECK(other.first->tensor == "layers.2.up.weight");
  }
}

TEST_CASE(
    "A1: a handful of values turned by one unit is rounding, where it is in several tensors") {
  const auto turned = [](double value, int layer, std::size_t at) {
    return at == kPinned && layer < 3 ? 0.0625 * (1 + 0x1p-7) : same(value, layer, at);
  };
  CHECK(diff_of(DType::bf16, same, turned).outcome == Outcome::noise);
  const auto alone = [](double value, int layer, std::size_t at) {
    return at == kPinned && layer == 3 ? 0.0625 * (1 + 0x1p-7) : same(value, layer, at);
  };
  const Verdict verdict = diff_of(DType::bf16, same, alone);
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(verdict.reason == "undecided");
  CHECK(verdict.complete);
}

TEST_CASE("A2: what is as small as rounding is noise beside tensors that are equal") {
  const auto head = [](double value, int layer, std::size_t at) {
    return layer == 5 && at % 16 == 3 ? value * (1 + 0x1p-22) : same(value, layer, at);
  };
  CHECK(diff_of(DType::f32, same, head).outcome == Outcome::noise);
  const auto damaged = [](double value, int layer, std::size_t at) {
    return layer == 5 && at == 3 ? value + 1e-3 : same(value, layer, at);
  };
  CHECK(diff_of(DType::f32, same, damaged).outcome == Outcome::diverged);
}

TEST_CASE("between rounding and training nothing is said of weights alone") {
  const Verdict verdict = diff_of(DType::f32, same, moved(1e-4));
  CHECK(verdict.outcome == Outcome::not_comparable);
  CHECK(verdict.reason == "undecided");
}

TEST_CASE("all tensors scaled alike: the factor is said, and no training") {
  const auto scaled = [](double value, int layer, std::size_t at) {
    return same(value, layer, at) * 1.25;
  };
  const Verdict verdict = diff_of(DType::f32, same, scaled);
  CHECK(verdict.outcome == Outcome::diverged);
  CHECK(count(verdict, Code::scale) >= 1);
  CHECK(count(verdict, Code::trained_apart) == 0);
}

}  // namespace
}  // namespace ttcheck::cli
