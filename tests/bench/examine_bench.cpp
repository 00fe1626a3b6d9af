// SPDX-License-Identifier: Apache-2.0
// The second pass over a pair in memory that differs everywhere, on one thread, reading included.
// `ns` is its time per element, `first` that of the first pass; both the best of all rounds.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/parallel.hpp"
#include "core/compare/compare.hpp"
#include "core/model/decode.hpp"
#include "tests/bench/seconds.hpp"
#include "tests/support/array_source.hpp"

namespace ttcheck::bench {
namespace {

constexpr std::int64_t kRows = 8192;
constexpr std::int64_t kColumns = 1024;

std::vector<std::byte> encode(DType dtype, const std::vector<double>& values) {
  std::vector<std::byte> bytes(byte_size(dtype, kRows * kColumns));
  from_doubles(dtype, values.data(), kRows * kColumns, bytes.data());
  return bytes;
}

/// Every element of b is off by `noise` of what a's elements are; 1: the two have nothing in
/// common.
void examine_pair(benchmark::State& state, DType a, DType b, double noise) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 0.02);
  std::vector<double> values(static_cast<std::size_t>(kRows * kColumns));
  for (double& value : values) value = normal(random);
  const tests::ArraySource source_a = tests::ArraySource::of(encode(a, values));
  for (double& value : values) value = value * (1 - noise) + noise * normal(random);
  const tests::ArraySource source_b = tests::ArraySource::of(encode(b, values));
  const Tensor reference = tests::tensor_of(source_a, a, {kRows, kColumns});
  const Tensor candidate = tests::tensor_of(source_b, b, {kRows, kColumns});
  const compare::Pair pair{&reference, &candidate, {}, {}};
  set_threads(1);
  Metrics metrics;
  double first = 1e9;
  double second = 1e9;
  for ([[maybe_unused]] auto round : state) {
    first =
        std::min(first, seconds([&] { metrics = compare::compare({&pair, 1}, {})[0].metrics; }));
    second = std::min(second,
                      seconds([&] { benchmark::DoNotOptimize(compare::examine(pair, metrics)); }));
  }
  state.counters["first"] = first / static_cast<double>(kRows * kColumns) * 1e9;
  state.counters["ns"] = second / static_cast<double>(kRows * kColumns) * 1e9;
}

void add(DType a, DType b, double noise) {
  const std::string label =
      std::string(name(a)) + "/" + std::string(name(b)) + "/" + std::to_string(noise);
  benchmark::RegisterBenchmark(label.c_str(),
                               [=](benchmark::State& state) { examine_pair(state, a, b, noise); })
      ->Iterations(5)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace ttcheck::bench

int main(int argc, char** argv) {
  using namespace ttcheck;
  for (const double noise : {1e-6, 1e-2, 1.0}) {
    for (const DType dtype : {DType::bf16, DType::f16, DType::f32, DType::f64, DType::f8_e4m3fn}) {
      bench::add(dtype, dtype, noise);
    }
    bench::add(DType::f32, DType::bf16, noise);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
