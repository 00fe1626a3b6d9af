// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "core/compare/kernel_body.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::compare {
namespace {

struct Scalar {
  float lane[kLanes];

  static constexpr int kWidth = kLanes;
  static constexpr int kParts = 1;

  using Mask = unsigned;  ///< one bit a lane

  struct Count {
    int count = 0;
    void add(Mask mask) { count += __builtin_popcount(mask); }
    int total() const { return count; }
  };
  using CountBeside = Count;

  /// The largest value seen, and 0.
  struct Largest {
    float most = 0;
    void add(const Scalar& value) {
      for (const float x : value.lane) most = x > most ? x : most;
    }
    float value() const { return most; }
  };

  /// The smallest value seen, and 1.
  struct Smallest {
    float least = 1;
    void add(const Scalar& value) {
      for (const float x : value.lane) least = x < least ? x : least;
    }
    float value() const { return least; }
  };

  struct Peak {
    std::uint32_t most = 0;
    void add(const Scalar& value) {
      for (const float x : value.lane) {
        const std::uint32_t size = std::bit_cast<std::uint32_t>(x) & 0x7fffffffU;
        most = size > most ? size : most;
      }
    }
    std::uint32_t value() const { return most; }
  };

  /// The largest of codes of 16 bits, without their signs.
  struct CodePeak {
    std::uint16_t most = 0;
    void add(const std::uint16_t* at) {
      for (int j = 0; j < kLanes; ++j) {
        const auto size = static_cast<std::uint16_t>(load_code(at + j) & 0x7fff);
        most = size > most ? size : most;
      }
    }
    std::uint16_t value() const { return most; }
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
    __builtin_memcpy(out.lane, static_cast<const void*>(at), sizeof out.lane);
    return out;
  }
  static Scalar bf16(const std::uint16_t* at) {
    return each([&](int j) { return widen_bf16(load_code(at + j)); });
  }
  static Scalar f16(const std::uint16_t* at) {
    return each([&](int j) { return widen_f16(load_code(at + j)); });
  }
  static Scalar fma(const Scalar& a, const Scalar& b, const Scalar& c) {
    return each([&](int j) { return std::fma(a.lane[j], b.lane[j], c.lane[j]); });
  }
  static Scalar minus_product(const Scalar& c, const Scalar& a, const Scalar& b) {
    return each([&](int j) { return std::fma(-a.lane[j], b.lane[j], c.lane[j]); });
  }
  static Scalar max(const Scalar& a, const Scalar& b) {
    return each([&](int j) { return a.lane[j] > b.lane[j] ? a.lane[j] : b.lane[j]; });
  }
  static Mask equal_bits(const Scalar& a, const Scalar& b) {
    return where([&](int j) {
      return std::bit_cast<std::uint32_t>(a.lane[j]) == std::bit_cast<std::uint32_t>(b.lane[j]);
    });
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

  /// Sixteen codes.
  static void widen_small(const std::uint8_t* from, const SmallFormat& format, float* out) {
    for (int j = 0; j < kLanes; ++j) {
      const unsigned code = from[j];
      const bool nan = (code & format.nan_mask) == format.nan_code;
      const unsigned magnitude = (code & format.magnitude) << format.shift;
      const unsigned sign = (code & ~unsigned{format.magnitude}) << format.sign;
      const unsigned half = magnitude | sign | (nan ? 0x7e00U : 0U);
      out[j] = widen_f16(static_cast<std::uint16_t>(half)) * format.scale;
    }
  }
  bool rounds_to_f16(const std::uint16_t* to) const {
    for (int j = 0; j < kLanes; ++j) {
      if (code_of(DType::f16, static_cast<double>(lane[j])) != load_code(to + j)) return false;
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
  static double fold(const Scalar (&lanes)[kParts]) {
    double sum[kLanes];
    for (int j = 0; j < kLanes; ++j) sum[j] = lanes[0].lane[j];
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) sum[j] += sum[j + half];
    }
    return sum[0];
  }
};

}  // namespace

constinit const Kernels kScalarKernels = make_kernels<Scalar>("scalar");

}  // namespace ttcheck::compare
