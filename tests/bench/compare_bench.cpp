// SPDX-License-Identifier: Apache-2.0
// The fused pass over two buffers in memory, each round paired with a plain read of the same
// buffers: `of_limit` is the median ratio of the two speeds. TTCHECK_ISA picks the kernels.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/compare/measure.hpp"
#include "core/compare/ranges.hpp"
#include "core/model/decode.hpp"
#include "tests/bench/memory_limit.hpp"
#include "tests/bench/seconds.hpp"

namespace ttcheck::bench {
namespace {

constexpr std::size_t kBytes = std::size_t{48} << 20;  // of the wider side

enum Content : int { last_bit, equal, all_nan, all_zero, tiny };
constexpr std::array<const char*, 5> kContents = {"last_bit", "equal", "nan", "zero", "1e-20"};

struct Streams {
  std::vector<std::byte> a, b;
  std::int64_t count = 0;
};

double value_for(Content content, double normal) {
  switch (content) {
    case all_nan:
      return NAN;
    case all_zero:
      return 0;
    case tiny:
      return 1e-20;
    default:
      return normal;
  }
}

/// 1 Mi elements, repeated: `b` is `a` cast, with the last bit of half of its elements flipped.
Streams make_streams(DType a, DType b, Content content) {
  constexpr std::int64_t kPattern = 1 << 20;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 0.02 * (bits(a) == 8 ? 50 : 1));
  std::vector<double> values(kPattern);
  for (double& value : values) value = value_for(content, normal(random));
  const auto encode = [&](DType dtype) {
    std::vector<std::byte> bytes(byte_size(dtype, kPattern));
    from_doubles(dtype, values.data(), kPattern, bytes.data());
    return bytes;
  };
  const std::vector<std::byte> pattern_a = encode(a);
  to_doubles(a, pattern_a.data(), kPattern, values.data());
  std::vector<std::byte> pattern_b = encode(b);
  const std::size_t width = pattern_b.size() / kPattern;
  if (content == last_bit || content == tiny) {
    for (std::size_t i = 0; i < pattern_b.size(); i += width) {
      if ((random() & 1) != 0) pattern_b[i] ^= std::byte{1};
    }
  }
  Streams streams;
  const std::size_t repeats = kBytes / std::max(pattern_a.size(), pattern_b.size());
  for (std::size_t i = 0; i < repeats; ++i) {
    streams.a.insert(streams.a.end(), pattern_a.begin(), pattern_a.end());
    streams.b.insert(streams.b.end(), pattern_b.begin(), pattern_b.end());
  }
  streams.count = static_cast<std::int64_t>(repeats) * kPattern;
  return streams;
}

void measure_streams(benchmark::State& state, DType a, DType b, Content content) {
  Streams streams = make_streams(a, b, content);
  const compare::Rule rule = compare::rule_for(a, b, false);
  const auto scratch = compare::make_scratch();
  const std::int64_t range = compare::range_elements(a, b);
  const std::size_t range_a = byte_size(a, range);
  const std::size_t range_b = byte_size(b, range);
  std::vector<double> ratios;
  Metrics whole;
  for ([[maybe_unused]] auto round : state) {
    const double limit = seconds([&] {
      for (std::int64_t i = 0; i < streams.count / range; ++i) {
        const auto at = static_cast<std::size_t>(i);
        benchmark::DoNotOptimize(sum_streams(streams.a.data() + at * range_a, range_a,
                                             streams.b.data() + at * range_b, range_b));
      }
    });
    const double taken = seconds([&] {
      for (std::int64_t i = 0; i < streams.count / range; ++i) {
        const auto at = static_cast<std::size_t>(i);
        append(whole,
               compare::measure(rule, i * range, range,
                                std::span(streams.a).subspan(at * range_a, range_a),
                                std::span(streams.b).subspan(at * range_b, range_b), {}, *scratch));
      }
    });
    benchmark::DoNotOptimize(whole);
    ratios.push_back(limit / taken);
    state.SetIterationTime(taken);
  }
  std::ranges::nth_element(ratios, ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2));
  state.counters["of_limit"] = ratios[ratios.size() / 2];
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(streams.a.size() + streams.b.size()));
}

void add(DType a, DType b, Content content) {
  const std::string label = std::string(name(a)) + "/" + std::string(name(b)) + "/" +
                            kContents[static_cast<std::size_t>(content)];
  benchmark::RegisterBenchmark(
      label.c_str(), [=](benchmark::State& state) { measure_streams(state, a, b, content); })
      ->UseManualTime()
      ->Iterations(9)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace ttcheck::bench

int main(int argc, char** argv) {
  using namespace ttcheck;
  using namespace ttcheck::bench;
  for (const Content content : {last_bit, equal, all_nan, all_zero, tiny}) {
    for (const DType dtype :
         {DType::bf16, DType::f16, DType::f32, DType::f8_e4m3fn, DType::f8_e5m2}) {
      add(dtype, dtype, content);
    }
  }
  add(DType::bf16, DType::f32, last_bit);
  add(DType::bf16, DType::f32, equal);
  add(DType::f16, DType::f32, last_bit);
  add(DType::i32, DType::i32, last_bit);
  add(DType::f64, DType::f64, last_bit);
  benchmark::AddCustomContext("isa", std::string(compare::isa()));
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
