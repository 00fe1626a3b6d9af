#pragma once
// The loop that every instruction set instantiates with its own 16-lane vector. Included only by
// the kernel_*.cpp files, each compiled with its own flags: so nothing in here may be an inline
// function of external linkage that another file could share, the standard library's included.

#include "core/compare/kernel.hpp"

namespace ttcheck::compare {
namespace {

template <class V, Load kLoad>
inline V load(const void* base, int at) {
  if constexpr (kLoad == Load::f32) return V::f32(static_cast<const float*>(base) + at);
  if constexpr (kLoad == Load::bf16) return V::bf16(static_cast<const std::uint16_t*>(base) + at);
  if constexpr (kLoad == Load::f16) return V::f16(static_cast<const std::uint16_t*>(base) + at);
}

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

template <class V, Load kA, Load kB>
void pair(const Block& block, float rtol, float atol, BlockResult& result) {
  const V rtols = V::all(rtol);
  const V atols = V::all(atol);
  V rel = V::all(result.max_rel);
  Running<V> run;
  for (int part = 0; part < block.count; part += kFlush) {
    const int end = part + kFlush < block.count ? part + kFlush : block.count;
    V d2 = V::zero();
    V a2 = V::zero();
    V b2 = V::zero();
    for (int i = part; i < end; i += kLanes) {
      const V a = load<V, kA>(block.a, i);
      const V b = load<V, kB>(block.b, i);
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
        rel = V::all(result.max_rel);
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
      const V a = load<V, kA>(block.a, i);
      a2 = V::fma(a, a, a2);
    }
    result.a2 += a2.fold();
  }
}

template <class V>
consteval Kernels make_kernels(std::string_view name) {
  using enum Load;
  return {name,
          {{pair<V, f32, f32>, pair<V, f32, bf16>, pair<V, f32, f16>},
           {pair<V, bf16, f32>, pair<V, bf16, bf16>, pair<V, bf16, f16>},
           {pair<V, f16, f32>, pair<V, f16, bf16>, pair<V, f16, f16>}},
          {square<V, f32>, square<V, bf16>, square<V, f16>},
          V::expand};
}

}  // namespace
}  // namespace ttcheck::compare
