// SPDX-License-Identifier: Apache-2.0
#pragma once
// The loops that every instruction set instantiates with its own vector V of kWidth lanes, kParts
// of which make the sixteen. Included only by the kernel_*.cpp files, each compiled with its own
// flags: so nothing in here may be an inline function of external linkage that another file could
// share, the standard library's included.

#include "core/compare/kernel.hpp"
#include "core/compare/kernel_complex.hpp"
#include "core/compare/kernel_detail.hpp"
#include "core/compare/kernel_exact.hpp"
#include "core/compare/kernel_short.hpp"

namespace ttcheck::compare {
namespace {

/// A code of 16 bits that may stand at any byte.
inline std::uint16_t load_code(const std::uint16_t* at) {
  std::uint16_t code;
  __builtin_memcpy(&code, static_cast<const void*>(at), sizeof code);
  return code;
}

/// V::kWidth elements from element `at` on.
template <class V, Load kLoad>
inline V load(const void* base, int at) {
  if constexpr (kLoad == Load::f32) return V::f32(static_cast<const float*>(base) + at);
  if constexpr (kLoad == Load::bf16) return V::bf16(static_cast<const std::uint16_t*>(base) + at);
  if constexpr (kLoad == Load::f16) return V::f16(static_cast<const std::uint16_t*>(base) + at);
}

/// Asks for the line a block after element `at`, which may lie past the end: the processor's own
/// prefetching stops at page borders, two of which a block of f32 crosses on each side, and what is
/// done between two blocks must not wait for the next one.
template <Load kLoad>
inline void prefetch(const void* base, int at) {
  constexpr std::uintptr_t kWidth = kLoad == Load::f32 ? 4 : 2;
  const auto from = reinterpret_cast<std::uintptr_t>(base);
  __builtin_prefetch(
      reinterpret_cast<const void*>(from + static_cast<std::uintptr_t>(at + kBlock) * kWidth));
}

/// The running maximum must be beaten by more than the rounding of the test, or many equal
/// quotients would each be divided out again.
constexpr float kJustAbove = 1 + 0x1p-22F;

/// V::kWidth elements of both sides, multiplied by a power of two if asked.
template <class V, Load kA, Load kB, bool kScaled>
struct Step {
  V a, b;

  Step(const Block& block, const V& scales, int at)
      : a(load<V, kA>(block.a, at)), b(load<V, kB>(block.b, at)) {
    if constexpr (kScaled) {
      a = a * scales;
      b = b * scales;
    }
  }
};

/// The sixteen lanes of one sum.
template <class V>
struct Sum {
  V part[V::kParts];

  Sum() {
    for (V& lanes : part) lanes = V::zero();
  }
  void add_square(const V& x, int at) { part[at] = V::fma(x, x, part[at]); }
  double fold() const { return V::fold(part); }
};

/// Raises the running maximum of the relative difference by what elements [begin, end) hold,
/// sixteen at a time; called only where it rises.
template <class V, Load kA, Load kB, bool kScaled>
[[gnu::noinline]] void raise_rel(const Block& block, float scale, int begin, int end,
                                 BlockResult& result) {
  const V scales = V::all(scale);
  for (int i = begin; i < end; i += kLanes) {
    const V rel = V::all(result.max_rel * kJustAbove);
    alignas(64) float d[kLanes];
    alignas(64) float m[kLanes];
    bool rises = false;
    for (int j = 0; j < kLanes; j += V::kWidth) {
      const Step<V, kA, kB, kScaled> step(block, scales, i + j);
      const V distance = (step.b - step.a).abs();
      const V larger = V::max(step.a.abs(), step.b.abs());
      rises |= V::any(V::greater(V::minus_product(distance, rel, larger), V::zero()));
      distance.store(d + j);
      larger.store(m + j);
    }
    for (int j = 0; rises && j < kLanes; ++j) {
      const float quotient = d[j] / m[j];
      if (quotient > result.max_rel) {
        result.max_rel = quotient;
        result.rel_at = i + j;
      }
    }
  }
}

/// Elements whose values differ.
template <class V, Load kA, Load kB, bool kScaled>
[[gnu::noinline]] int count_unequal_values(const Block& block, float scale) {
  const V scales = V::all(scale);
  typename V::Count equal{};
  for (int i = 0; i < block.count; i += V::kWidth) {
    const Step<V, kA, kB, kScaled> step(block, scales, i);
    equal.add(V::equal(step.a, step.b));
  }
  return block.count - equal.total();
}

template <class V, Load kA, Load kB, bool kScaled>
inline void pair_loop(const Block& block, float scale, float rtol, float atol,
                      BlockResult& result) {
  const V scales = V::all(scale);
  const V rtols = V::all(rtol);
  const V atols = V::all(atol);
  typename V::Largest max_abs{};
  typename V::Smallest least{};  // of the larger magnitudes
  typename V::CountBeside same_bits{}, beyond{};
  for (int part = 0; part < block.count; part += kFlush) {
    const int end = part + kFlush < block.count ? part + kFlush : block.count;
    const V rel = V::all(result.max_rel * kJustAbove);
    typename V::Largest excess{};
    Sum<V> d2, a2, b2;
    for (int i = part; i < end; i += kLanes) {
      prefetch<kA>(block.a, i);
      prefetch<kB>(block.b, i);
      for (int j = 0; j < V::kParts; ++j) {
        const Step<V, kA, kB, kScaled> step(block, scales, i + j * V::kWidth);
        a2.add_square(step.a, j);
        b2.add_square(step.b, j);
        same_bits.add(V::equal_bits(step.a, step.b));
        const V d = step.b - step.a;
        d2.add_square(d, j);
        const V distance = d.abs();
        max_abs.add(distance);
        const V size = step.a.abs();
        const V larger = V::max(size, step.b.abs());
        least.add(larger);
        excess.add(V::minus_product(distance, rel, larger));
        beyond.add(V::greater(distance, V::fma(size, rtols, atols)));
      }
    }
    if (excess.value() > 0) [[unlikely]] {
      raise_rel<V, kA, kB, kScaled>(block, scale, part, end, result);
    }
    const double part_d2 = d2.fold();
    if (part_d2 > result.max_d2) result.max_d2 = part_d2;
    result.d2 += part_d2;
    result.a2 += a2.fold();
    result.b2 += b2.fold();
  }
  result.max_abs = max_abs.value();
  result.unequal_bits = block.count - same_bits.total();
  result.beyond = beyond.total();
  // Values differ where bits do, unless both are zero.
  result.unequal_values = result.unequal_bits != 0 && least.value() == 0
                              ? count_unequal_values<V, kA, kB, kScaled>(block, scale)
                              : result.unequal_bits;
}

/// Whether so many bytes, from one on, are the same on both sides; the compiler makes vectors of
/// it.
inline bool same_bytes(const void* a, const void* b, int from, int bytes) {
  const auto* x = static_cast<const unsigned char*>(a) + from;
  const auto* y = static_cast<const unsigned char*>(b) + from;
  std::uint64_t unlike = 0;
  for (int i = 0; i < bytes; i += 8) {
    std::uint64_t left, right;
    __builtin_memcpy(&left, x + i, sizeof left);
    __builtin_memcpy(&right, y + i, sizeof right);
    unlike |= left ^ right;
  }
  return unlike == 0;
}

template <class V, Load kA>
bool square(const Block& block, BlockResult& result) {
  constexpr int kEach = kA == Load::f32 ? 4 : 2;
  for (int part = 0; part < block.count; part += kFlush) {
    const int end = part + kFlush < block.count ? part + kFlush : block.count;
    if (block.b != nullptr && !same_bytes(block.a, block.b, part * kEach, (end - part) * kEach)) {
      return false;
    }
    Sum<V> a2;
    for (int i = part; i < end; i += kLanes) {
      if (block.b != nullptr) {  // else what is read is at hand
        prefetch<kA>(block.a, i);
        prefetch<kA>(block.b, i);
      }
      for (int j = 0; j < V::kParts; ++j) {
        a2.add_square(load<V, kA>(block.a, i + j * V::kWidth), j);
      }
    }
    result.a2 += a2.fold();
  }
  return true;
}

template <class V, Load kA, Load kB>
void pair(const Block& block, float rtol, float atol, BlockResult& result) {
  pair_loop<V, kA, kB, false>(block, 1, rtol, atol, result);
}

template <class V, Load kLoad>
void scaled(const Block& block, float scale, float rtol, float atol, BlockResult& result) {
  pair_loop<V, kLoad, kLoad, true>(block, scale, rtol, atol, result);
}

template <class V, Load kLoad>
void widen(const void* from, int count, float* out) {
  for (int i = 0; i < count; i += V::kWidth) load<V, kLoad>(from, i).store(out + i);
}

template <class V>
void widen_small(const std::uint8_t* from, int count, const SmallFormat& format, float* out) {
  int i = 0;
  if constexpr (requires { V::widen_small_two(from, format, out); }) {
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) V::widen_small_two(from + i, format, out + i);
  }
  for (; i < count; i += kLanes) V::widen_small(from + i, format, out + i);
}

/// Codes of 16 bits are in the order of their magnitudes, so only the largest is widened.
template <class V, Load kLoad>
std::uint32_t peak(const void* from, int count) {
  if constexpr (kLoad == Load::f32) {
    typename V::Peak most{};
    for (int i = 0; i < count; i += V::kWidth) {
      prefetch<kLoad>(from, i);
      most.add(load<V, kLoad>(from, i));
    }
    return most.value();
  } else {
    typename V::CodePeak most{};
    for (int i = 0; i < count; i += kLanes) {
      prefetch<kLoad>(from, i);
      most.add(static_cast<const std::uint16_t*>(from) + i);
    }
    const std::uint16_t codes[kLanes] = {most.value()};
    std::uint32_t widened[kLanes];
    widen<V, kLoad>(codes, kLanes, reinterpret_cast<float*>(widened));
    return widened[0];
  }
}

/// Counts NaN and infinities of one side.
template <class V>
struct SideClasses {
  typename V::Count nan{}, plus{}, minus{};
  void add(const V& value, const V& infinity) {
    nan.add(V::is_nan(value));
    plus.add(V::equal(value, infinity));
    minus.add(V::equal(value, V::zero() - infinity));
  }
};

template <class V>
Classes take_out(const Block& block, float* a, float* b) {
  const V infinity = V::all(__builtin_inff());
  SideClasses<V> of_a;
  SideClasses<V> of_b;
  typename V::Count out{}, disagree{}, same_bits{};
  int all_nan = 0;  // in vectors that hold nothing else
  Classes found;
  for (int i = 0; i < block.count; i += V::kWidth) {
    const V x = load<V, Load::f32>(block.a, i);
    const V y = load<V, Load::f32>(block.b, i);
    const auto both_nan = V::both(V::is_nan(x), V::is_nan(y));
    if (V::every(both_nan)) {
      all_nan += V::kWidth;
      same_bits.add(V::equal_bits(x, y));
      V::zero().store(a + i);
      V::zero().store(b + i);
      continue;
    }
    const auto finite = V::both(V::greater(infinity, x.abs()), V::greater(infinity, y.abs()));
    V::keep(finite, x).store(a + i);
    V::keep(finite, y).store(b + i);
    if (V::every(finite)) continue;
    same_bits.add(V::both(both_nan, V::equal_bits(x, y)));
    of_a.add(x, infinity);
    of_b.add(y, infinity);
    const auto same_infinity = V::both(V::equal(x, y), V::inverse(finite));
    same_bits.add(same_infinity);
    const auto wrong = V::neither(finite, V::either(both_nan, same_infinity));
    out.add(V::inverse(finite));
    disagree.add(wrong);
    if (found.first_disagree < 0 && V::any(wrong)) {
      found.first_disagree = i + __builtin_ctz(V::lanes_of(wrong));
    }
  }
  found.nan_a = all_nan + of_a.nan.total();
  found.plus_inf_a = of_a.plus.total();
  found.minus_inf_a = of_a.minus.total();
  found.nan_b = all_nan + of_b.nan.total();
  found.plus_inf_b = of_b.plus.total();
  found.minus_inf_b = of_b.minus.total();
  found.taken_out = all_nan + out.total();
  found.disagree = disagree.total();
  found.unequal_bits = found.taken_out - same_bits.total();
  return found;
}

template <class V>
bool rounds_to_bf16(const Block& block) {
  const auto* from = static_cast<const std::uint32_t*>(block.a);
  const auto* to = static_cast<const std::uint16_t*>(block.b);
  std::uint32_t wrong = 0;
  for (int i = 0; i < block.count; ++i) {
    std::uint32_t x;
    __builtin_memcpy(&x, static_cast<const void*>(from + i), sizeof x);
    const std::uint32_t rounded = (x + 0x7fffU + ((x >> 16) & 1U)) >> 16;
    wrong |= rounded ^ load_code(to + i);
    wrong |= static_cast<std::uint32_t>((x & 0x7f800000U) == 0x7f800000U);
  }
  return wrong == 0;
}

template <class V>
bool rounds_to_f16(const Block& block) {
  for (int i = 0; i < block.count; i += V::kWidth) {
    const V x = load<V, Load::f32>(block.a, i);
    if (!V::every(V::greater(V::all(__builtin_inff()), x.abs()))) return false;
    if (!x.rounds_to_f16(static_cast<const std::uint16_t*>(block.b) + i)) return false;
  }
  return true;
}

template <class V>
consteval Kernels make_kernels(std::string_view name) {
  using enum Load;
  return {
      name,
      {{pair<V, f32, f32>, pair<V, f32, bf16>, pair<V, f32, f16>},
       {pair<V, bf16, f32>, pair<V, bf16, bf16>, pair<V, bf16, f16>},
       {pair<V, f16, f32>, pair<V, f16, bf16>, pair<V, f16, f16>}},
      {square<V, f32>, square<V, bf16>, square<V, f16>},
      {scaled<V, f32>, scaled<V, bf16>, scaled<V, f16>},
      {widen<V, f32>, widen<V, bf16>, widen<V, f16>},
      widen_small<V>,
      {peak<V, f32>, peak<V, bf16>, peak<V, f16>},
      take_out<V>,
      rounds_to_bf16<V>,
      rounds_to_f16<V>,
      {to_doubles<std::uint8_t>, to_doubles<std::int8_t>, to_doubles<std::uint16_t>,
       to_doubles<std::int16_t>, to_doubles<std::uint32_t>, to_doubles<std::int32_t>,
       to_doubles<std::uint64_t>, to_doubles<std::int64_t>},
      {integer_squares<std::uint8_t>, integer_squares<std::int8_t>, integer_squares<std::uint16_t>,
       integer_squares<std::int16_t>},
      {integer_sums<std::uint8_t>, integer_sums<std::int8_t>, integer_sums<std::uint16_t>,
       integer_sums<std::int16_t>},
      {integer_distances<std::uint64_t>, integer_distances<std::int64_t>},
      {integers_apart<std::uint8_t>, integers_apart<std::int8_t>, integers_apart<std::uint16_t>,
       integers_apart<std::int16_t>, integers_apart<std::uint32_t>, integers_apart<std::int32_t>,
       integers_apart<std::uint64_t>, integers_apart<std::int64_t>},
      {integer_row<std::uint8_t>, integer_row<std::int8_t>, integer_row<std::uint16_t>,
       integer_row<std::int16_t>},
      {small_columns<std::uint8_t>, small_columns<std::int8_t>},
      {integer_columns<std::uint8_t>, integer_columns<std::int8_t>, integer_columns<std::uint16_t>,
       integer_columns<std::int16_t>},
      {integer_steps<std::uint8_t>, integer_steps<std::int8_t>, integer_steps<std::uint16_t>,
       integer_steps<std::int16_t>},
      {integer_census<std::uint8_t>, integer_census<std::int8_t>, integer_census<std::uint16_t>,
       integer_census<std::int16_t>},
      {unequal_codes<std::uint8_t>, unequal_codes<std::uint16_t>, unequal_codes<std::uint32_t>,
       unequal_codes<std::uint64_t>},
      distances,
      finite,
      {square_sum<As::values>, square_sum<As::squares>},
      extremes,
      split,
      ulps,
      census,
      narrow,
      {squares<As::values>, squares<As::squares>},
      {add_squares<As::values>, add_squares<As::squares>},
      exceeds,
      part,
      moduli,
      square_moduli,
      squares_apart,
      roots,
      complex_steps};
}

}  // namespace
}  // namespace ttcheck::compare
