// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "cli/diff.hpp"
#include "core/model/decode.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/stored_values.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::cli {
namespace {

using Values = std::vector<double>;

Values mapped(const Values& values, const std::function<double(double)>& make) {
  Values made;
  for (const double value : values) made.push_back(make(value));
  return made;
}

/// The values as a dtype holds them.
Values rounded(DType dtype, const Values& values) {
  const std::vector<std::byte> stored = tests::stored_values(dtype, values);
  Values made(values.size());
  to_doubles(dtype, stored.data(), std::ssize(values), made.data());
  return made;
}

struct Stored {
  std::string name;
  Values values;
};

std::string file(const tests::TempDir& dir, const std::string& name, DType dtype,
                 const std::vector<Stored>& tensors) {
  std::string header, data;
  for (const Stored& tensor : tensors) {
    const std::vector<std::byte> bytes = tests::stored_values(dtype, tensor.values);
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                    header.empty() ? "" : ",", tensor.name, dtype == DType::bf16 ? "BF16" : "F32",
                    tensor.values.size(), data.size(), data.size() + bytes.size());
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return dir.write(name, tests::safetensors_of("{" + header + "}", data));
}

Verdict diff_with(const std::string& reference, const std::string& candidate,
                  const std::string& op) {
  const tests::TempDir dir;
  Options options;
  options.words = {reference, candidate};
  options.maps = {dir.write(
      "map.toml", fmt::format("[[map]]\nreference = \"norm.w\"\ncandidate = \"norm.gamma\"\n"
                              "op = \"{}\"\n",
                              op))};
  return diff(options);
}

Values uneven(std::size_t count) {
  Values values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(std::sin(static_cast<double>(i)) / 5);
  return values;
}

TEST_CASE("what add says is equal both ways, whichever side was made from the other") {
  const tests::TempDir dir;
  for (const DType dtype : {DType::bf16, DType::f32}) {
    const Values plain = rounded(dtype, mapped(uneven(700), [](double v) { return 1 + v; }));
    const Values centred = rounded(dtype, uneven(700));
    const auto minus = [](double v) { return v - 1; };
    const auto plus = [](double v) { return v + 1; };
    const Values other = rounded(dtype, uneven(64));
    // Made by taking one from the weights, and by adding one to what is centred.
    const std::vector<std::pair<Values, Values>> made = {
        {plain, rounded(dtype, mapped(plain, minus))},
        {rounded(dtype, mapped(centred, plus)), centred}};
    for (const auto& [weights, distances] : made) {
      const std::string a = file(dir, "a.safetensors", dtype, {{"norm.w", weights}, {"x", other}});
      const std::string b =
          file(dir, "b.safetensors", dtype, {{"norm.gamma", distances}, {"x", other}});
      for (const auto& [reference, candidate] : {std::pair(a, b), std::pair(b, a)}) {
        const Verdict verdict = diff_with(reference, candidate, "add(-1)");
        CHECK(verdict.outcome == Outcome::equal);
        CHECK(verdict.complete);
        CHECK(verdict.coverage.paired == 2);
        CHECK(verdict.tally.casts.contains("value map"));
        CHECK(diff_with(reference, candidate, "add(-1.25)").outcome == Outcome::diverged);
        CHECK(diff_with(reference, candidate, "same").outcome == Outcome::diverged);
      }
    }
  }
}

TEST_CASE("one element that scale does not explain is named; moments follow the chain rule") {
  const tests::TempDir dir;
  const Values weights = rounded(DType::f32, uneven(700));
  const auto times = [&](double k) {
    return rounded(DType::f32, mapped(weights, [&](double v) { return v * k; }));
  };
  const std::string a =
      file(dir, "a.safetensors", DType::f32,
           {{"norm.w", weights}, {"norm.w@exp_avg", weights}, {"norm.w@exp_avg_sq", weights}});
  std::vector<Stored> tensors = {{"norm.gamma", times(3)},
                                 {"norm.gamma@exp_avg", times(1.0 / 3)},
                                 {"norm.gamma@exp_avg_sq", times(1.0 / 9)}};
  const std::string b = file(dir, "b.safetensors", DType::f32, tensors);
  CHECK(diff_with(a, b, "scale(3)").outcome == Outcome::equal);
  CHECK(diff_with(b, a, "scale(3)").outcome == Outcome::equal);
  const std::string d = file(dir, "d.safetensors", DType::f32,
                             {{"norm.w", weights}, {"norm.w@step", {10}}, {"norm.w@other", {7}}});
  const std::string e =
      file(dir, "e.safetensors", DType::f32,
           {{"norm.gamma", times(3)}, {"norm.gamma@step", {10}}, {"norm.gamma@other", {7}}});
  CHECK(diff_with(d, e, "scale(3)").outcome == Outcome::equal);
  CHECK(diff_with(a, b, "scale(unknown)").outcome == Outcome::not_comparable);
  tensors[0].values[123] *= 1.01;
  const std::string c = file(dir, "c.safetensors", DType::f32, tensors);
  const Verdict verdict = diff_with(a, c, "scale(3)");
  CHECK(verdict.outcome == Outcome::diverged);
  REQUIRE(verdict.first);
  CHECK(verdict.first->index == Extents{123});
}

TEST_CASE("a master stands for the parameter that a value map names") {
  const tests::TempDir dir;
  const Values centred = rounded(DType::f32, uneven(64));
  const Values plain = rounded(DType::f32, mapped(centred, [](double v) { return v + 1; }));
  const std::string a = file(dir, "a.safetensors", DType::f32, {{"norm.w", plain}});
  const std::string b = file(dir, "b.safetensors", DType::f32, {{"norm.gamma@master", centred}});
  CHECK(diff_with(a, b, "add(-1)").outcome == Outcome::equal);
  CHECK(diff_with(b, a, "add(-1)").outcome == Outcome::equal);
}

}  // namespace
}  // namespace ttcheck::cli
