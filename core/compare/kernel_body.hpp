#pragma once
// The loop that every instruction set instantiates with its own 16-lane vector. Included only by
// the kernel_*.cpp files, each compiled with its own flags: so nothing in here may be an inline
// function of external linkage that another file could share, the standard library's included.

#include "core/compare/kernel.hpp"

namespace ttcheck::compare {
namespace {

template <class V, Load kLoad>
inline V load(const Block& block, const void* base, int at) {
  if constexpr (kLoad == Load::f32) return V::f32(static_cast<const float*>(base) + at);
  if constexpr (kLoad == Load::bf16) return V::bf16(static_cast<const std::uint16_t*>(base) + at);
  if constexpr (kLoad == Load::f16) return V::f16(static_cast<const std::uint16_t*>(base) + at);
  if constexpr (kLoad == Load::small) {
    return V::small(static_cast<const std::uint8_t*>(base) + at, block.small);
  }
}

/// The running maximum must be beaten by more than the rounding of the test, or many equal
/// quotients would each be divided out again.
constexpr float kJustAbove = 1 + 0x1p-22F;

/// Counts and maxima that run over the whole block.
template <class V>
struct Running {
  V max_abs = V::zero();
  typename V::Count bits{}, values{}, beyond{};
};

/// Raises the running maximum of the relative difference; rarely called.
template <class V>
[[gnu::noinline]] void raise_rel(const V& distance, const V& larger, int at, BlockResult& result) {
  alignas(64) float d[kLanes];
  alignas(64) float m[kLanes];
  distance.store(d);
  larger.store(m);
  for (int j = 0; j < kLanes; ++j) {
    const float quotient = d[j] / m[j];
    if (quotient > result.max_rel) {
      result.max_rel = quotient;
      result.rel_at = at + j;
    }
  }
}

template <class V, Load kA, Load kB, bool kScaled>
inline void pair_loop(const Block& block, float scale, float rtol, float atol,
                      BlockResult& result) {
  const V scales = V::all(scale);
  const V rtols = V::all(rtol);
  const V atols = V::all(atol);
  V rel = V::all(result.max_rel * kJustAbove);
  Running<V> run;
  for (int part = 0; part < block.count; part += kFlush) {
    const int end = part + kFlush < block.count ? part + kFlush : block.count;
    V d2 = V::zero();
    V a2 = V::zero();
    V b2 = V::zero();
    for (int i = part; i < end; i += kLanes) {
      V a = load<V, kA>(block, block.a, i);
      V b = load<V, kB>(block, block.b, i);
      if constexpr (kScaled) {
        a = a * scales;
        b = b * scales;
      }
      const V d = b - a;
      const V distance = d.abs();
      const V size = a.abs();
      const V larger = V::max(size, b.abs());
      run.bits.add(V::unequal_bits(a, b));
      run.values.add(V::unequal(a, b));
      run.beyond.add(V::greater(distance, V::fma(size, rtols, atols)));
      run.max_abs = V::max(distance, run.max_abs);
      if (V::any(V::greater(distance, rel * larger))) [[unlikely]] {
        raise_rel(distance, larger, i, result);
        rel = V::all(result.max_rel * kJustAbove);
      }
      d2 = V::fma(d, d, d2);
      a2 = V::fma(a, a, a2);
      b2 = V::fma(b, b, b2);
    }
    const double part_d2 = d2.fold();
    if (part_d2 > result.max_d2) result.max_d2 = part_d2;
    result.d2 += part_d2;
    result.a2 += a2.fold();
    result.b2 += b2.fold();
  }
  result.max_abs = run.max_abs.largest();
  result.unequal_bits = run.bits.total();
  result.unequal_values = run.values.total();
  result.beyond = run.beyond.total();
}

template <class V, Load kA>
void square(const Block& block, BlockResult& result) {
  for (int part = 0; part < block.count; part += kFlush) {
    const int end = part + kFlush < block.count ? part + kFlush : block.count;
    V a2 = V::zero();
    for (int i = part; i < end; i += kLanes) {
      const V a = load<V, kA>(block, block.a, i);
      a2 = V::fma(a, a, a2);
    }
    result.a2 += a2.fold();
  }
}

template <class V, Load kA, Load kB>
void pair(const Block& block, float rtol, float atol, BlockResult& result) {
  pair_loop<V, kA, kB, false>(block, 1, rtol, atol, result);
}

template <class V>
void scaled(const Block& block, float scale, float rtol, float atol, BlockResult& result) {
  pair_loop<V, Load::f32, Load::f32, true>(block, scale, rtol, atol, result);
}

template <class V, Load kA>
void widen(const Block& block, float* a) {
  for (int i = 0; i < block.count; i += kLanes) load<V, kA>(block, block.a, i).store(a + i);
}

template <class V>
Peaks peaks(const Block& block) {
  typename V::Peak a{};
  typename V::Peak b{};
  for (int i = 0; i < block.count; i += kLanes) {
    a.add(load<V, Load::f32>(block, block.a, i));
    b.add(load<V, Load::f32>(block, block.b, i));
  }
  return {a.largest(), b.largest()};
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
Classes take_out(float* a, float* b, int count) {
  const V infinity = V::all(__builtin_inff());
  SideClasses<V> of_a;
  SideClasses<V> of_b;
  typename V::Count out{}, disagree{}, bits{};
  Classes found;
  for (int i = 0; i < count; i += kLanes) {
    const V x = V::f32(a + i);
    const V y = V::f32(b + i);
    const auto finite = V::both(V::greater(infinity, x.abs()), V::greater(infinity, y.abs()));
    if (V::every(finite)) continue;
    of_a.add(x, infinity);
    of_b.add(y, infinity);
    const auto agree = V::either(V::both(V::is_nan(x), V::is_nan(y)), V::equal(x, y));
    const auto wrong = V::neither(finite, agree);
    out.add(V::inverse(finite));
    disagree.add(wrong);
    bits.add(V::neither(finite, V::inverse(V::unequal_bits(x, y))));
    if (found.first_disagree < 0 && V::any(wrong)) {
      found.first_disagree = i + __builtin_ctz(V::lanes_of(wrong));
    }
    V::keep(finite, x).store(a + i);
    V::keep(finite, y).store(b + i);
  }
  found.nan_a = of_a.nan.total();
  found.plus_inf_a = of_a.plus.total();
  found.minus_inf_a = of_a.minus.total();
  found.nan_b = of_b.nan.total();
  found.plus_inf_b = of_b.plus.total();
  found.minus_inf_b = of_b.minus.total();
  found.taken_out = out.total();
  found.disagree = disagree.total();
  found.unequal_bits = bits.total();
  return found;
}

template <class V>
bool rounds_to_bf16(const Block& block) {
  const auto* from = static_cast<const std::uint32_t*>(block.a);
  const auto* to = static_cast<const std::uint16_t*>(block.b);
  std::uint32_t wrong = 0;
  for (int i = 0; i < block.count; ++i) {
    std::uint32_t x;
    __builtin_memcpy(&x, from + i, sizeof x);
    const std::uint32_t rounded = (x + 0x7fffU + ((x >> 16) & 1U)) >> 16;
    wrong |= rounded ^ to[i];
    wrong |= static_cast<std::uint32_t>((x & 0x7f800000U) == 0x7f800000U);
  }
  return wrong == 0;
}

template <class V>
bool rounds_to_f16(const Block& block) {
  for (int i = 0; i < block.count; i += kLanes) {
    const V x = load<V, Load::f32>(block, block.a, i);
    if (!V::every(V::greater(V::all(__builtin_inff()), x.abs()))) return false;
    if (!x.rounds_to_f16(static_cast<const std::uint16_t*>(block.b) + i)) return false;
  }
  return true;
}

template <class V>
consteval Kernels make_kernels(std::string_view name) {
  using enum Load;
  return {name,
          {{pair<V, f32, f32>, pair<V, f32, bf16>, pair<V, f32, f16>},
           {pair<V, bf16, f32>, pair<V, bf16, bf16>, pair<V, bf16, f16>},
           {pair<V, f16, f32>, pair<V, f16, bf16>, pair<V, f16, f16>}},
          pair<V, small, small>,
          {square<V, f32>, square<V, bf16>, square<V, f16>, square<V, small>},
          scaled<V>,
          {widen<V, f32>, widen<V, bf16>, widen<V, f16>, widen<V, small>},
          peaks<V>,
          take_out<V>,
          rounds_to_bf16<V>,
          rounds_to_f16<V>};
}

}  // namespace
}  // namespace ttcheck::compare
