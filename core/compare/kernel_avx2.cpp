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

  struct Peak {
    __m256i most = _mm256_setzero_si256();
    void add(const Avx2& value) {
      const Avx2 size = value.abs();
      most = _mm256_max_epu32(most, _mm256_castps_si256(size.low));
      most = _mm256_max_epu32(most, _mm256_castps_si256(size.high));
    }
    std::uint32_t largest() const {
      alignas(32) std::uint32_t lane[8];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lane), most);
      std::uint32_t best = 0;
      for (const std::uint32_t value : lane) best = value > best ? value : best;
      return best;
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
    const auto same = [](__m256 x, __m256 y) {
      return _mm256_cmpeq_epi32(_mm256_castps_si256(x), _mm256_castps_si256(y));
    };
    return inverse({same(a.low, b.low), same(a.high, b.high)});
  }
  static Mask both(const Mask& a, const Mask& b) {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
  }
  static Mask either(const Mask& a, const Mask& b) {
    return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
  }
  static Mask inverse(const Mask& a) {
    const __m256i ones = _mm256_set1_epi32(-1);
    return {_mm256_xor_si256(a.low, ones), _mm256_xor_si256(a.high, ones)};
  }
  static Mask neither(const Mask& a, const Mask& b) { return inverse(either(a, b)); }
  static unsigned lanes_of(const Mask& mask) {
    const auto bits = [](__m256i x) {
      return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(x)));
    };
    return bits(mask.low) | bits(mask.high) << 8;
  }
  static bool every(const Mask& mask) { return lanes_of(mask) == 0xffff; }
  static Avx2 keep(const Mask& mask, const Avx2& a) {
    return {_mm256_and_ps(_mm256_castsi256_ps(mask.low), a.low),
            _mm256_and_ps(_mm256_castsi256_ps(mask.high), a.high)};
  }
  template <int kTest>
  static Mask compare(const Avx2& a, const Avx2& b) {
    return {_mm256_castps_si256(_mm256_cmp_ps(a.low, b.low, kTest)),
            _mm256_castps_si256(_mm256_cmp_ps(a.high, b.high, kTest))};
  }
  static Mask unequal(const Avx2& a, const Avx2& b) { return compare<_CMP_NEQ_OQ>(a, b); }
  static Mask equal(const Avx2& a, const Avx2& b) { return compare<_CMP_EQ_OQ>(a, b); }
  static Mask is_nan(const Avx2& a) { return compare<_CMP_UNORD_Q>(a, a); }
  static Mask greater(const Avx2& a, const Avx2& b) { return compare<_CMP_GT_OQ>(a, b); }
  static bool any(const Mask& mask) {
    const __m256i either = _mm256_or_si256(mask.low, mask.high);
    return _mm256_testz_si256(either, either) == 0;
  }
  static Avx2 small(const std::uint8_t* at, const SmallFormat& format) {
    const auto all16 = [](int value) { return _mm256_set1_epi16(static_cast<short>(value)); };
    const __m256i codes =
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    const __m256i magnitude = _mm256_and_si256(codes, all16(format.magnitude));
    const __m256i sign = _mm256_andnot_si256(all16(format.magnitude), codes);
    const __m256i nan =
        _mm256_cmpeq_epi16(_mm256_and_si256(codes, all16(format.nan_mask)), all16(format.nan_code));
    const __m256i halves = _mm256_or_si256(
        _mm256_or_si256(_mm256_sll_epi16(magnitude, _mm_cvtsi32_si128(format.shift)),
                        _mm256_sll_epi16(sign, _mm_cvtsi32_si128(format.sign))),
        _mm256_and_si256(nan, all16(0x7e00)));
    const __m256 scale = _mm256_set1_ps(format.scale);
    return {_mm256_mul_ps(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)), scale),
            _mm256_mul_ps(_mm256_cvtph_ps(_mm256_extracti128_si256(halves, 1)), scale)};
  }
  bool rounds_to_f16(const std::uint16_t* to) const {
    const auto codes = [](__m256 x) { return _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT); };
    const __m128i same = _mm_and_si128(_mm_cmpeq_epi16(codes(low), eight(to)),
                                       _mm_cmpeq_epi16(codes(high), eight(to + 8)));
    return _mm_movemask_epi8(same) == 0xffff;
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
