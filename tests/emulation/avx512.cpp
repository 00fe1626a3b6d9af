// SPDX-License-Identifier: Apache-2.0
// The AVX-512 kernels, compiled for a processor without AVX-512: SIMDe does each intrinsic in two
// AVX2 halves. Compiled with -mavx2 -mfma -mf16c.

#include <immintrin.h>

#include <cstdint>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

// What SIMDe 0.7 lacks, or does not do to the bit: lane by lane or half by half.
namespace shim {
namespace {

template <class T, class Vector>
struct Lanes {
  static constexpr int kCount = sizeof(Vector) / sizeof(T);
  T lane[kCount];
  explicit Lanes(const Vector& from) { __builtin_memcpy(lane, &from, sizeof lane); }
  template <class F>
  T reduce(F better) const {
    T best = lane[0];
    for (int i = 1; i < kCount; ++i) best = better(best, lane[i]);
    return best;
  }
};

template <class To, class Half>
To joined(const Half& low, const Half& high) {
  static_assert(sizeof(To) == 2 * sizeof(Half));
  To both;
  __builtin_memcpy(&both, &low, sizeof low);
  __builtin_memcpy(reinterpret_cast<char*>(&both) + sizeof low, &high, sizeof high);
  return both;
}

float largest(const simde__m512& x) {
  return Lanes<float, simde__m512>(x).reduce([](float a, float b) { return a > b ? a : b; });
}
float smallest(const simde__m512& x) {
  return Lanes<float, simde__m512>(x).reduce([](float a, float b) { return a < b ? a : b; });
}
unsigned largest_code(const simde__m512i& x) {
  return Lanes<unsigned, simde__m512i>(x).reduce(
      [](unsigned a, unsigned b) { return a > b ? a : b; });
}
int sum(const simde__m512i& x) {
  return Lanes<int, simde__m512i>(x).reduce([](int a, int b) { return a + b; });
}
simde__m512 without_sign(const simde__m512& x) {  // SIMDe's own keeps the sign of NaN
  return simde_mm512_castsi512_ps(
      simde_mm512_and_si512(simde_mm512_castps_si512(x), simde_mm512_set1_epi32(0x7fffffff)));
}
__m256 half(const simde__m512& x, int which) {
  __m256 out;
  __builtin_memcpy(&out, reinterpret_cast<const char*>(&x) + which * 32, sizeof out);
  return out;
}
__m128i half(__m256i x, int which) {
  return which == 0 ? _mm256_castsi256_si128(x) : _mm256_extracti128_si256(x, 1);
}
simde__m512 from_halves(__m256i codes) {
  return joined<simde__m512>(_mm256_cvtph_ps(half(codes, 0)), _mm256_cvtph_ps(half(codes, 1)));
}
__m256i to_halves(const simde__m512& x) {
  return joined<__m256i>(_mm256_cvtps_ph(half(x, 0), _MM_FROUND_TO_NEAREST_INT),
                         _mm256_cvtps_ph(half(x, 1), _MM_FROUND_TO_NEAREST_INT));
}
simde__m512d to_doubles(__m256 x) {
  return joined<simde__m512d>(_mm256_cvtps_pd(_mm256_castps256_ps128(x)),
                              _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)));
}
simde__m512i to_ints(__m256i x) {
  return joined<simde__m512i>(_mm256_cvtepu16_epi32(half(x, 0)), _mm256_cvtepu16_epi32(half(x, 1)));
}
simde__m512i widen_codes(__m256i x) {
  return joined<simde__m512i>(_mm256_cvtepu8_epi16(half(x, 0)), _mm256_cvtepu8_epi16(half(x, 1)));
}
simde__mmask32 same_shorts(const simde__m512i& x, const simde__m512i& y) {
  const Lanes<std::uint16_t, simde__m512i> a(x), b(y);
  simde__mmask32 mask = 0;
  for (int i = 0; i < 32; ++i) {
    if (a.lane[i] == b.lane[i]) mask |= simde__mmask32{1} << i;
  }
  return mask;
}

}  // namespace
}  // namespace shim

#undef _mm512_reduce_max_ps
#define _mm512_reduce_max_ps(x) shim::largest(x)
#undef _mm512_reduce_min_ps
#define _mm512_reduce_min_ps(x) shim::smallest(x)
#undef _mm512_reduce_max_epu32
#define _mm512_reduce_max_epu32(x) shim::largest_code(x)
#undef _mm512_reduce_add_epi32
#define _mm512_reduce_add_epi32(x) shim::sum(x)
#undef _mm512_extractf32x8_ps
#define _mm512_extractf32x8_ps(x, which) shim::half(x, which)
#undef _mm512_abs_ps
#define _mm512_abs_ps(x) shim::without_sign(x)
#undef _mm512_cvtph_ps
#define _mm512_cvtph_ps(x) shim::from_halves(x)
#undef _mm512_cvtps_ph
#define _mm512_cvtps_ph(x, mode) shim::to_halves(x)
#undef _mm512_cvtps_pd
#define _mm512_cvtps_pd(x) shim::to_doubles(x)
#undef _mm512_cvtepu16_epi32
#define _mm512_cvtepu16_epi32(x) shim::to_ints(x)
#undef _mm512_cvtepu8_epi16
#define _mm512_cvtepu8_epi16(x) shim::widen_codes(x)
#undef _mm512_cmpeq_epi16_mask
#define _mm512_cmpeq_epi16_mask(x, y) shim::same_shorts(x, y)
#undef _kand_mask16
#define _kand_mask16(a, b) static_cast<simde__mmask16>((a) & (b))
#undef _kor_mask16
#define _kor_mask16(a, b) static_cast<simde__mmask16>((a) | (b))
#undef _knot_mask16
#define _knot_mask16(a) static_cast<simde__mmask16>(~(a))

#define kAvx512Kernels kEmulatedAvx512Kernels
#include "core/compare/kernel_avx512.cpp"
