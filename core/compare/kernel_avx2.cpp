// Compiled with -mavx2 -mfma -mf16c; called only where the processor has them.

#include <immintrin.h>

#include "core/compare/kernel_body.hpp"

namespace ttcheck::compare {
namespace {

/// Lanes 0-7 in `low`, 8-15 in `high`.
struct Avx2 {
  __m256 low, high;

  struct Mask {
    __m256i low, high;  ///< -1 in lanes that hold
  };

  struct Count {
    __m256i sum = _mm256_setzero_si256();
    void add(const Mask& mask) {
      sum = _mm256_sub_epi32(sum, _mm256_add_epi32(mask.low, mask.high));
    }
    int total() const {
      alignas(32) int lane[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), sum);
      int count = 0;
      for (const int value : lane) count += value;
      return count;
    }
  };

  static Avx2 all(float value) { return {_mm256_set1_ps(value), _mm256_set1_ps(value)}; }
  static Avx2 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Avx2 f32(const float* at) { return {_mm256_loadu_ps(at), _mm256_loadu_ps(at + 8)}; }
  static __m128i eight(const std::uint16_t* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }
  static __m256 widen(__m128i codes) {
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(codes), 16));
  }
  static Avx2 bf16(const std::uint16_t* at) { return {widen(eight(at)), widen(eight(at + 8))}; }
  static Avx2 f16(const std::uint16_t* at) {
    return {_mm256_cvtph_ps(eight(at)), _mm256_cvtph_ps(eight(at + 8))};
  }
  static Avx2 fma(const Avx2& a, const Avx2& b, const Avx2& c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }
  static Avx2 max(const Avx2& a, const Avx2& b) {
    return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
  }
  static Mask unequal_bits(const Avx2& a, const Avx2& b) {
    const __m256i ones = _mm256_set1_epi32(-1);
    const auto differ = [&](__m256 x, __m256 y) {
      const __m256i same = _mm256_cmpeq_epi32(_mm256_castps_si256(x), _mm256_castps_si256(y));
      return _mm256_xor_si256(same, ones);
    };
    return {differ(a.low, b.low), differ(a.high, b.high)};
  }
  template <int kTest>
  static Mask compare(const Avx2& a, const Avx2& b) {
    return {_mm256_castps_si256(_mm256_cmp_ps(a.low, b.low, kTest)),
            _mm256_castps_si256(_mm256_cmp_ps(a.high, b.high, kTest))};
  }
  static Mask unequal(const Avx2& a, const Avx2& b) { return compare<_CMP_NEQ_OQ>(a, b); }
  static Mask greater(const Avx2& a, const Avx2& b) { return compare<_CMP_GT_OQ>(a, b); }
  static bool any(const Mask& mask) {
    const __m256i either = _mm256_or_si256(mask.low, mask.high);
    return _mm256_testz_si256(either, either) == 0;
  }
  static void expand(const std::uint8_t* codes, const float* table, int count, float* out) {
    for (int i = 0; i < count; i += 8) {
      const __m128i eight_codes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(codes + i));
      _mm256_storeu_ps(out + i, _mm256_i32gather_ps(table, _mm256_cvtepu8_epi32(eight_codes), 4));
    }
  }

  Avx2 operator-(const Avx2& b) const {
    return {_mm256_sub_ps(low, b.low), _mm256_sub_ps(high, b.high)};
  }
  Avx2 operator*(const Avx2& b) const {
    return {_mm256_mul_ps(low, b.low), _mm256_mul_ps(high, b.high)};
  }
  Avx2 abs() const {
    const __m256 sign = _mm256_set1_ps(-0.0F);
    return {_mm256_andnot_ps(sign, low), _mm256_andnot_ps(sign, high)};
  }
  void store(float* out) const {
    _mm256_storeu_ps(out, low);
    _mm256_storeu_ps(out + 8, high);
  }
  float largest() const {
    alignas(32) float lane[8];
    _mm256_store_ps(lane, _mm256_max_ps(low, high));
    float best = lane[0];
    for (const float value : lane) best = value > best ? value : best;
    return best;
  }
  double fold() const {
    const auto half = [](__m256 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); };
    const auto rest = [](__m256 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); };
    const __m256d first = _mm256_add_pd(half(low), half(high));   // 0-3 and 8-11
    const __m256d second = _mm256_add_pd(rest(low), rest(high));  // 4-7 and 12-15
    const __m256d four = _mm256_add_pd(first, second);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }
};

}  // namespace

constinit const Kernels kAvx2Kernels = make_kernels<Avx2>("avx2");

}  // namespace ttcheck::compare
