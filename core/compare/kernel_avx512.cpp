// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx2 -mfma -mf16c; called only where
// the processor has them.

#include <immintrin.h>

#include "core/compare/kernel_body.hpp"

namespace ttcheck::compare {
namespace {

struct Avx512 {
  __m512 lanes;

  static constexpr int kWidth = 16;
  static constexpr int kParts = kLanes / kWidth;

  using Mask = __mmask16;

  struct Count {
    __m512i sum = _mm512_setzero_si512();
    void add(Mask mask) { sum = _mm512_mask_sub_epi32(sum, mask, sum, _mm512_set1_epi32(-1)); }
    int total() const { return _mm512_reduce_add_epi32(sum); }
  };

  /// For loops that keep the vector units busy: the others count.
  struct CountBeside {
    int sum = 0;
    void add(Mask mask) { sum += __builtin_popcount(mask); }
    int total() const { return sum; }
  };

  /// The largest value seen, and 0.
  struct Largest {
    __m512 most = _mm512_setzero_ps();
    void add(const Avx512& value) { most = _mm512_max_ps(value.lanes, most); }
    float value() const { return _mm512_reduce_max_ps(most); }
  };

  /// The smallest value seen, and 1.
  struct Smallest {
    __m512 least = _mm512_set1_ps(1);
    void add(const Avx512& value) { least = _mm512_min_ps(value.lanes, least); }
    float value() const { return _mm512_reduce_min_ps(least); }
  };

  struct Peak {
    __m512i most = _mm512_setzero_si512();
    void add(const Avx512& value) {
      most = _mm512_max_epu32(most, _mm512_castps_si512(value.abs().lanes));
    }
    std::uint32_t value() const { return _mm512_reduce_max_epu32(most); }
  };

  /// The largest of codes of 16 bits, without their signs.
  struct CodePeak {
    __m256i most = _mm256_setzero_si256();
    void add(const std::uint16_t* at) {
      most = _mm256_max_epu16(most, _mm256_and_si256(sixteen(at), _mm256_set1_epi16(0x7fff)));
    }
    std::uint16_t value() const {
      return static_cast<std::uint16_t>(_mm512_reduce_max_epu32(_mm512_cvtepu16_epi32(most)));
    }
  };

  static Avx512 all(float value) { return {_mm512_set1_ps(value)}; }
  static Avx512 zero() { return {_mm512_setzero_ps()}; }
  static Avx512 f32(const float* at) { return {_mm512_loadu_ps(at)}; }
  static __m256i sixteen(const std::uint16_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
  static Avx512 bf16(const std::uint16_t* at) {
    return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(sixteen(at)), 16))};
  }
  static Avx512 f16(const std::uint16_t* at) { return {_mm512_cvtph_ps(sixteen(at))}; }
  static Avx512 fma(const Avx512& a, const Avx512& b, const Avx512& c) {
    return {_mm512_fmadd_ps(a.lanes, b.lanes, c.lanes)};
  }
  static Avx512 minus_product(const Avx512& c, const Avx512& a, const Avx512& b) {
    return {_mm512_fnmadd_ps(a.lanes, b.lanes, c.lanes)};
  }
  static Avx512 max(const Avx512& a, const Avx512& b) { return {_mm512_max_ps(a.lanes, b.lanes)}; }
  static Mask equal_bits(const Avx512& a, const Avx512& b) {
    return _mm512_cmpeq_epi32_mask(_mm512_castps_si512(a.lanes), _mm512_castps_si512(b.lanes));
  }
  static Mask greater(const Avx512& a, const Avx512& b) {
    return _mm512_cmp_ps_mask(a.lanes, b.lanes, _CMP_GT_OQ);
  }
  static bool any(Mask mask) { return mask != 0; }
  static bool every(Mask mask) { return mask == 0xffff; }
  static Mask both(Mask a, Mask b) { return _kand_mask16(a, b); }
  static Mask either(Mask a, Mask b) { return _kor_mask16(a, b); }
  static Mask inverse(Mask a) { return _knot_mask16(a); }
  static Mask neither(Mask a, Mask b) { return _knot_mask16(_kor_mask16(a, b)); }
  static unsigned lanes_of(Mask mask) { return mask; }
  static Mask equal(const Avx512& a, const Avx512& b) {
    return _mm512_cmp_ps_mask(a.lanes, b.lanes, _CMP_EQ_OQ);
  }
  static Mask is_nan(const Avx512& a) { return _mm512_cmp_ps_mask(a.lanes, a.lanes, _CMP_UNORD_Q); }
  static Avx512 keep(Mask mask, const Avx512& a) { return {_mm512_maskz_mov_ps(mask, a.lanes)}; }

  /// Sixteen codes.
  static void widen_small(const std::uint8_t* from, const SmallFormat& format, float* out) {
    const auto all16 = [](int value) { return _mm256_set1_epi16(static_cast<short>(value)); };
    const __m256i codes =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    const __m256i magnitude = _mm256_and_si256(codes, all16(format.magnitude));
    const __m256i sign = _mm256_andnot_si256(all16(format.magnitude), codes);
    const __m256i nan =
        _mm256_cmpeq_epi16(_mm256_and_si256(codes, all16(format.nan_mask)), all16(format.nan_code));
    const __m256i halves = _mm256_or_si256(
        _mm256_or_si256(_mm256_sll_epi16(magnitude, _mm_cvtsi32_si128(format.shift)),
                        _mm256_sll_epi16(sign, _mm_cvtsi32_si128(format.sign))),
        _mm256_and_si256(nan, all16(0x7e00)));
    (Avx512{_mm512_cvtph_ps(halves)} * all(format.scale)).store(out);
  }
  /// Thirty-two.
  static void widen_small_two(const std::uint8_t* from, const SmallFormat& format, float* out) {
    const auto all16 = [](int value) { return _mm512_set1_epi16(static_cast<short>(value)); };
    const __m512i codes =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
    const __m512i magnitude = _mm512_and_si512(codes, all16(format.magnitude));
    const __m512i sign = _mm512_andnot_si512(all16(format.magnitude), codes);
    const __mmask32 nan = _mm512_cmpeq_epi16_mask(_mm512_and_si512(codes, all16(format.nan_mask)),
                                                  all16(format.nan_code));
    const __m512i moved =
        _mm512_or_si512(_mm512_sll_epi16(magnitude, _mm_cvtsi32_si128(format.shift)),
                        _mm512_sll_epi16(sign, _mm_cvtsi32_si128(format.sign)));
    const __m512i halves = _mm512_or_si512(moved, _mm512_maskz_mov_epi16(nan, all16(0x7e00)));
    const Avx512 scale = all(format.scale);
    (Avx512{_mm512_cvtph_ps(_mm512_castsi512_si256(halves))} * scale).store(out);
    (Avx512{_mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1))} * scale).store(out + kWidth);
  }
  bool rounds_to_f16(const std::uint16_t* to) const {
    const __m256i codes = _mm512_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(codes, sixteen(to))) == -1;
  }

  Avx512 operator-(const Avx512& b) const { return {_mm512_sub_ps(lanes, b.lanes)}; }
  Avx512 operator*(const Avx512& b) const { return {_mm512_mul_ps(lanes, b.lanes)}; }
  Avx512 abs() const { return {_mm512_abs_ps(lanes)}; }
  void store(float* out) const { _mm512_storeu_ps(out, lanes); }
  static double fold(const Avx512 (&sum)[kParts]) {
    const __m512 lanes = sum[0].lanes;
    const __m512d eight = _mm512_add_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(lanes)),
                                        _mm512_cvtps_pd(_mm512_extractf32x8_ps(lanes, 1)));
    const __m256d four =
        _mm256_add_pd(_mm512_castpd512_pd256(eight), _mm512_extractf64x4_pd(eight, 1));
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace

constinit const Kernels kAvx512Kernels = make_kernels<Avx512>("avx512");

}  // namespace ttcheck::compare
