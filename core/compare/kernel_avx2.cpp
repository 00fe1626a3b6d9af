// SPDX-License-Identifier: Apache-2.0
// Compiled with -mavx2 -mfma -mf16c; called only where the processor has them.

#include <immintrin.h>

#include "core/compare/kernel_body.hpp"

namespace ttcheck::compare {
namespace {

/// The best of eight lanes by `better`, which is max or min.
template <class Better>
float reduce(__m256 lanes, const Better& better) {
  const __m128 four = better(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
  const __m128 two = better(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(better(two, _mm_movehdup_ps(two)));
}

struct Avx2 {
  __m256 lanes;

  static constexpr int kWidth = 8;
  static constexpr int kParts = kLanes / kWidth;

  using Mask = __m256i;  ///< -1 in lanes that hold

  struct Count {
    __m256i sum = _mm256_setzero_si256();
    void add(Mask mask) { sum = _mm256_sub_epi32(sum, mask); }
    int total() const {
      alignas(32) int lane[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), sum);
      int count = 0;
      for (const int value : lane) count += value;
      return count;
    }
  };
  using CountBeside = Count;

  /// The largest value seen, and 0.
  struct Largest {
    __m256 most = _mm256_setzero_ps();
    void add(const Avx2& value) { most = _mm256_max_ps(value.lanes, most); }
    float value() const {
      return reduce(most, [](__m128 x, __m128 y) { return _mm_max_ps(x, y); });
    }
  };

  /// The smallest value seen, and 1.
  struct Smallest {
    __m256 least = _mm256_set1_ps(1);
    void add(const Avx2& value) { least = _mm256_min_ps(value.lanes, least); }
    float value() const {
      return reduce(least, [](__m128 x, __m128 y) { return _mm_min_ps(x, y); });
    }
  };

  struct Peak {
    __m256i most = _mm256_setzero_si256();
    void add(const Avx2& value) {
      most = _mm256_max_epu32(most, _mm256_castps_si256(value.abs().lanes));
    }
    std::uint32_t value() const {
      alignas(32) std::uint32_t lane[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), most);
      std::uint32_t best = 0;
      for (const std::uint32_t size : lane) best = size > best ? size : best;
      return best;
    }
  };

  /// The largest of codes of 16 bits, without their signs.
  struct CodePeak {
    __m256i most = _mm256_setzero_si256();
    void add(const std::uint16_t* at) {
      const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
      most = _mm256_max_epu16(most, _mm256_and_si256(codes, _mm256_set1_epi16(0x7fff)));
    }
    std::uint16_t value() const {
      alignas(32) std::uint16_t lane[16];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), most);
      std::uint16_t best = 0;
      for (const std::uint16_t code : lane) best = code > best ? code : best;
      return best;
    }
  };

  static Avx2 all(float value) { return {_mm256_set1_ps(value)}; }
  static Avx2 zero() { return {_mm256_setzero_ps()}; }
  static Avx2 f32(const float* at) { return {_mm256_loadu_ps(at)}; }
  static __m128i eight(const std::uint16_t* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static Avx2 bf16(const std::uint16_t* at) {
    return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(eight(at)), 16))};
  }
  static Avx2 f16(const std::uint16_t* at) { return {_mm256_cvtph_ps(eight(at))}; }
  static Avx2 fma(const Avx2& a, const Avx2& b, const Avx2& c) {
    return {_mm256_fmadd_ps(a.lanes, b.lanes, c.lanes)};
  }
  static Avx2 minus_product(const Avx2& c, const Avx2& a, const Avx2& b) {
    return {_mm256_fnmadd_ps(a.lanes, b.lanes, c.lanes)};
  }
  static Avx2 max(const Avx2& a, const Avx2& b) { return {_mm256_max_ps(a.lanes, b.lanes)}; }
  static Mask equal_bits(const Avx2& a, const Avx2& b) {
    return _mm256_cmpeq_epi32(_mm256_castps_si256(a.lanes), _mm256_castps_si256(b.lanes));
  }
  static Mask both(Mask a, Mask b) { return _mm256_and_si256(a, b); }
  static Mask either(Mask a, Mask b) { return _mm256_or_si256(a, b); }
  static Mask inverse(Mask a) { return _mm256_xor_si256(a, _mm256_set1_epi32(-1)); }
  static Mask neither(Mask a, Mask b) { return inverse(either(a, b)); }
  static unsigned lanes_of(Mask mask) {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(mask)));
  }
  static bool any(Mask mask) { return lanes_of(mask) != 0; }
  static bool every(Mask mask) { return lanes_of(mask) == 0xff; }
  static Avx2 keep(Mask mask, const Avx2& a) {
    return {_mm256_and_ps(_mm256_castsi256_ps(mask), a.lanes)};
  }
  template <int kTest>
  static Mask compare(const Avx2& a, const Avx2& b) {
    return _mm256_castps_si256(_mm256_cmp_ps(a.lanes, b.lanes, kTest));
  }
  static Mask equal(const Avx2& a, const Avx2& b) { return compare<_CMP_EQ_OQ>(a, b); }
  static Mask is_nan(const Avx2& a) { return compare<_CMP_UNORD_Q>(a, a); }
  static Mask greater(const Avx2& a, const Avx2& b) { return compare<_CMP_GT_OQ>(a, b); }

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
    const Avx2 scale = all(format.scale);
    (Avx2{_mm256_cvtph_ps(_mm256_castsi256_si128(halves))} * scale).store(out);
    (Avx2{_mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1))} * scale).store(out + kWidth);
  }
  bool rounds_to_f16(const std::uint16_t* to) const {
    const __m128i codes = _mm256_cvtps_ph(lanes, _MM_FROUND_TO_NEAREST_INT);
    return _mm_movemask_epi8(_mm_cmpeq_epi16(codes, eight(to))) == 0xffff;
  }

  Avx2 operator-(const Avx2& b) const { return {_mm256_sub_ps(lanes, b.lanes)}; }
  Avx2 operator*(const Avx2& b) const { return {_mm256_mul_ps(lanes, b.lanes)}; }
  Avx2 abs() const { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0F), lanes)}; }
  void store(float* out) const { _mm256_storeu_ps(out, lanes); }
  static double fold(const Avx2 (&sum)[kParts]) {
    const auto half = [](__m256 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); };
    const auto rest = [](__m256 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); };
    const __m256d first = _mm256_add_pd(half(sum[0].lanes), half(sum[1].lanes));   // 0-3 and 8-11
    const __m256d second = _mm256_add_pd(rest(sum[0].lanes), rest(sum[1].lanes));  // 4-7 and 12-15
    const __m256d four = _mm256_add_pd(first, second);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace

constinit const Kernels kAvx2Kernels = make_kernels<Avx2>("avx2");

}  // namespace ttcheck::compare
