#include <cmath>

#include "core/compare/kernel_body.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

struct Scalar {
  float lane[kLanes];

  using Mask = unsigned;  ///< one bit a lane

  struct Count {
    int count = 0;
    void add(Mask mask) { count += __builtin_popcount(mask); }
    int total() const { return count; }
  };

  struct Peak {
    std::uint32_t most = 0;
    void add(const Scalar& value) {
      for (const float x : value.lane) {
        const std::uint32_t size = std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
        most = size > most ? size : most;
      }
    }
    std::uint32_t largest() const { return most; }
  };

  template <class F>
  static Scalar each(F value) {
    Scalar out;
    for (int j = 0; j < kLanes; ++j) out.lane[j] = value(j);
    return out;
  }
  template <class F>
  static Mask where(F test) {
    Mask mask = 0;
    for (int j = 0; j < kLanes; ++j) mask |= static_cast<Mask>(test(j)) << j;
    return mask;
  }

  static Scalar all(float value) {
    return each([&](int) { return value; });
  }
  static Scalar zero() { return all(0); }
  static Scalar f32(const float* at) {
    Scalar out;
    __builtin_memcpy(out.lane, at, sizeof out.lane);
    return out;
  }
  static Scalar bf16(const std::uint16_t* at) {
    return each([&](int j) { return widen_bf16(at[j]); });
  }
  static Scalar f16(const std::uint16_t* at) {
    return each([&](int j) { return widen_f16(at[j]); });
  }
  static Scalar fma(const Scalar& a, const Scalar& b, const Scalar& c) {
    return each([&](int j) { return std::fma(a.lane[j], b.lane[j], c.lane[j]); });
  }
  static Scalar max(const Scalar& a, const Scalar& b) {
    return each([&](int j) { return a.lane[j] > b.lane[j] ? a.lane[j] : b.lane[j]; });
  }
  static Mask unequal_bits(const Scalar& a, const Scalar& b) {
    return where([&](int j) {
      return std::bit_cast<std::uint32_t>(a.lane[j]) != std::bit_cast<std::uint32_t>(b.lane[j]);
    });
  }
  static Mask unequal(const Scalar& a, const Scalar& b) {
    return where([&](int j) { return a.lane[j] != b.lane[j]; });
  }
  static Mask greater(const Scalar& a, const Scalar& b) {
    return where([&](int j) { return a.lane[j] > b.lane[j]; });
  }
  static bool any(Mask mask) { return mask != 0; }
  static bool every(Mask mask) { return mask == 0xffff; }
  static Mask both(Mask a, Mask b) { return a & b; }
  static Mask either(Mask a, Mask b) { return a | b; }
  static Mask inverse(Mask a) { return ~a & 0xffff; }
  static Mask neither(Mask a, Mask b) { return inverse(a | b); }
  static unsigned lanes_of(Mask mask) { return mask; }
  static Mask equal(const Scalar& a, const Scalar& b) {
    return where([&](int j) { return a.lane[j] == b.lane[j]; });
  }
  static Mask is_nan(const Scalar& a) {
    return where([&](int j) { return std::isnan(a.lane[j]); });
  }
  static Scalar keep(Mask mask, const Scalar& a) {
    return each([&](int j) { return ((mask >> j) & 1) != 0 ? a.lane[j] : 0.0F; });
  }
  static Scalar small(const std::uint8_t* at, const SmallFormat& format) {
    return each([&](int j) {
      const unsigned code = at[j];
      const bool nan = (code & format.nan_mask) == format.nan_code;
      const unsigned magnitude = (code & format.magnitude) << format.shift;
      const unsigned sign = (code & ~unsigned{format.magnitude}) << format.sign;
      const unsigned half = magnitude | sign | (nan ? 0x7e00U : 0U);
      return widen_f16(static_cast<std::uint16_t>(half)) * format.scale;
    });
  }
  bool rounds_to_f16(const std::uint16_t* to) const {
    for (int j = 0; j < kLanes; ++j) {
      if (code_of(DType::f16, static_cast<double>(lane[j])) != to[j]) return false;
    }
    return true;
  }

  Scalar operator-(const Scalar& b) const {
    return each([&](int j) { return lane[j] - b.lane[j]; });
  }
  Scalar operator*(const Scalar& b) const {
    return each([&](int j) { return lane[j] * b.lane[j]; });
  }
  Scalar abs() const {
    return each([&](int j) { return std::fabs(lane[j]); });
  }
  void store(float* out) const { __builtin_memcpy(out, lane, sizeof lane); }
  float largest() const {
    float best = lane[0];
    for (const float value : lane) best = value > best ? value : best;
    return best;
  }
  double fold() const {
    double sum[kLanes];
    for (int j = 0; j < kLanes; ++j) sum[j] = lane[j];
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) sum[j] += sum[j + half];
    }
    return sum[0];
  }
};

}  // namespace

constinit const Kernels kScalarKernels = make_kernels<Scalar>("scalar");

}  // namespace ttcheck::compare
