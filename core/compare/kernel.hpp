// SPDX-License-Identifier: Apache-2.0
#pragma once
// Block kernels: the hot loop, once for each instruction set, with the same bits out of each.
//
// Order of sums. A block is at most 2048 elements from a logical index that is a multiple of 2048.
// Element i of a block goes to fp32 lane i mod 16 by one fused multiply-add. After every 512
// elements the 16 lanes are widened to fp64 and folded: lane j takes j + 8, then j + 4, j + 2, j
// + 1. The results are added in order. Nothing here knows of NaN or infinity: the caller looks at
// the sums and measures the block in fp64 where they may have overflowed or lost bits.

#include <cstdint>
#include <string_view>
#include <vector>

namespace ttcheck::compare {

inline constexpr int kBlock = 2048;
inline constexpr int kFlush = 512;
inline constexpr int kLanes = 16;

/// How a kernel reads elements. Everything else is decoded to f32 first.
enum class Load : std::uint8_t { f32, bf16, f16 };
inline constexpr int kLoads = 3;

/// How a kernel reads integers, the narrow ones first.
enum class Whole : std::uint8_t { u8, i8, u16, i16, u32, i32, u64, i64 };
inline constexpr int kShortWholes = 4;
inline constexpr int kWholes = 8;

/// How the code of a float of at most 8 bits becomes an f16 times a power of two: sign and
/// magnitude move up so that the mantissas meet. Codes that are NaN and would not be one in f16 are
/// named.
struct SmallFormat {
  int shift = 0;                                 ///< of the magnitude
  int sign = 0;                                  ///< of the sign bit
  std::uint16_t magnitude = 0;                   ///< mask of the code
  std::uint16_t nan_mask = 0, nan_code = 0x100;  ///< NaN where (code & nan_mask) == nan_code
  float scale = 1;
};

/// Two blocks of `count` elements, a multiple of 16, at most kBlock; any alignment.
struct Block {
  const void* a = nullptr;
  const void* b = nullptr;
  int count = 0;
};

struct BlockResult {
  double d2 = 0, a2 = 0, b2 = 0;
  double max_d2 = 0;     ///< largest sum of d^2 over 512 elements
  float max_abs = 0;     ///< largest |b-a|
  float max_rel = 0;     ///< in: the running maximum; out: that or a larger one
  int rel_at = -1;       ///< where in the block max_rel rose last
  int unequal_bits = 0;  ///< of the values as f32
  int unequal_values = 0;
  int beyond = 0;  ///< |b-a| > atol + rtol |a|
};

/// What is not finite in a block.
struct Classes {
  int nan_a = 0, plus_inf_a = 0, minus_inf_a = 0;
  int nan_b = 0, plus_inf_b = 0, minus_inf_b = 0;
  int taken_out = 0;  ///< places that are not finite on both sides
  int disagree = 0;   ///< those of them that are neither both NaN nor the same infinity
  int first_disagree = -1;
  int unequal_bits = 0;  ///< among those taken out, of the values as f32
};

/// How a float is rounded to nearest even to a unit whose distances are counted, as a magnitude
/// that counts up from 0 at zero. From `least` on by shifting its bits, below by adding `magic`.
struct UnitFormat {
  int shift = 0;             ///< f32 bits below the last one of the unit
  std::uint32_t offset = 0;  ///< taken off what was shifted, for the exponents that the unit lacks
  float least = 0;           ///< the smallest normal number of the unit
  float magic = 0;           ///< 2^23 of its smallest steps
  std::int32_t most = 0;     ///< the magnitude of infinity
};

/// Sums of squares of one row, or a part of it.
struct Squares {
  double d2 = 0, a2 = 0;
};

/// A quotient of integers; of nothing yet, 0.
struct Quotient {
  int above = 0, below = 1;
};

/// Up to kFlush integers of at most 16 bits on both sides. Sums are exact.
struct IntegerSums {
  std::uint64_t d2 = 0, a2 = 0, b2 = 0;
  int most = 0;  ///< largest |b-a|
  int unequal = 0;
  bool rises = false;  ///< some |b-a| / max(|a|, |b|) is above the quotient given
};

/// What distances are held against: `rel` of max(|a|, |b|), and atol + rtol |a|.
struct Bounds {
  double rel = 0, rtol = 0, atol = 0;
};

struct Extremes {
  double most = 0;     ///< largest distance
  bool rises = false;  ///< some distance is above `rel`
  int beyond = 0;      ///< how many are above the tolerances
};

/// What doubles are whose squares are asked for: values, or squares of which the roots would be.
enum class As : std::uint8_t { values, squares };

/// How many of some steps are 1, 2 and 3, and the largest of them.
struct Census {
  std::uint32_t largest = 0;
  std::uint32_t of[4] = {};  ///< of[0] is not counted
};

/// So many squares of 8 bits a sum of 32 holds.
inline constexpr std::int64_t kMostSquares = 0xffffffff / (255 * 255);

struct Kernels {
  std::string_view name;
  /// Measures a block, by Load of a and of b; `rtol` and `atol` are for `beyond`.
  void (*pair[kLoads][kLoads])(const Block& block, float rtol, float atol, BlockResult& result);
  /// Sums a2 only, of `a` alone, whose bits b has, too; false as soon as it has not, the sum being
  /// of no use. Without a b nothing is compared. By Load.
  bool (*square[kLoads])(const Block& block, BlockResult& result);
  /// Measures as `pair` of one Load does, both sides multiplied by `scale` first; `atol` is that of
  /// the scaled values.
  void (*scaled[kLoads])(const Block& block, float scale, float rtol, float atol,
                         BlockResult& result);
  /// `count` elements as f32, a multiple of 16. By Load; and of small floats, one code a byte.
  void (*widen[kLoads])(const void* from, int count, float* out);
  void (*widen_small)(const std::uint8_t* from, int count, const SmallFormat& format, float* out);
  /// The largest magnitude of `count` elements, a multiple of 16, as f32 bits without the sign:
  /// 0x7f800000 and above is not finite. By Load.
  std::uint32_t (*peak[kLoads])(const void* from, int count);
  /// Copies two f32 blocks, zero where either is not finite. In place, if asked.
  Classes (*take_out)(const Block& block, float* a, float* b);
  /// True when each f32 of a is finite and rounds to the code of b.
  bool (*rounds_to_bf16)(const Block& block);
  bool (*rounds_to_f16)(const Block& block);

  // Integers, at any alignment: as doubles, rounded to nearest; and, of at most kFlush, the sum of
  // squares, exact. By Whole.
  void (*to_doubles[kWholes])(const void* from, int count, double* out);
  std::uint64_t (*integer_squares[kShortWholes])(const void* from, int count);
  void (*integer_sums[kShortWholes])(const void* a, const void* b, int count, const Quotient& rel,
                                     IntegerSums& sums);
  /// |b-a|, rounded once, of u64 and i64.
  void (*integer_distances[2])(const void* a, const void* b, int count, double* distance);
  /// Integers of one dtype for the second pass: a and |b-a|, each rounded once, and |b-a| as steps.
  /// False where one of them is above 32 bits: no step is of use, then. By Whole.
  bool (*integers_apart[kWholes])(const void* a, const void* b, int count, double* wide_a,
                                  double* distance, std::uint32_t* steps);
  // Integers of at most 16 bits in the second pass, as they are stored
  // (core/compare/kernel_short.hpp): at most kBlock of them. By Whole.
  /// Of a row, or a part of it.
  Squares (*integer_row[kShortWholes])(const void* a, const void* b, int count);
  /// Adds the squares of |b-a| to a sum for each. Of u8 and i8, at most kMostSquares to a sum.
  void (*small_columns[2])(const void* a, const void* b, int count, std::uint32_t* sums);
  void (*integer_columns[kShortWholes])(const void* a, const void* b, int count, double* sums);
  /// |b-a|, and how many of them are 1, 2 and 3.
  void (*integer_steps[kShortWholes])(const void* a, const void* b, int count,
                                      std::uint32_t* steps);
  Census (*integer_census[kShortWholes])(const void* a, const void* b, int count);

  /// Elements whose bits differ, by the binary logarithm of their width in bytes, up to 8.
  int (*unequal_codes[4])(const void* a, const void* b, int count);

  // Doubles.
  void (*distances)(const double* a, const double* b, int count, double* distance);
  bool (*finite)(const double* values, int count);
  /// Of a multiple of 16, in the order of core/compare/wide.hpp. By As.
  double (*square_sum[2])(const double* values, int count);
  /// Of a multiple of 4 that are finite.
  void (*extremes)(const double* a, const double* b, const double* distance, int count,
                   const Bounds& bounds, Extremes& found);

  // What the second pass needs, in fp64: a, and the distance |b-a|. Any count, any alignment.
  void (*split)(const float* a, const float* b, int count, double* wide_a, double* distance);
  /// Steps of `unit` between finite floats a and b, both rounded to it.
  void (*ulps)(const void* a, const void* b, int count, const UnitFormat& unit,
               std::uint32_t* steps);
  Census (*census)(const std::uint32_t* steps, int count);
  /// As floats, 0 where the distance is.
  void (*narrow)(const double* values, const double* distance, int count, float* out);
  Squares (*squares[2])(const double* a, const double* distance, int count);  ///< by As
  void (*add_squares[2])(const double* distance, int count, double* sums);    ///< by As
  /// Whether some distance > ratio * max(|a|, least).
  bool (*exceeds)(const double* a, const double* distance, int count, double ratio, double least);

  // Complex numbers (core/compare/kernel_complex.hpp); of two f32 each where they are stored.
  void (*part)(const void* both, int count, double* real, double* imaginary);
  void (*moduli)(const double* real, const double* imaginary, int count, double* out);
  void (*square_moduli)(const void* values, int count, double* out);
  /// The squares of |a|, |b| and |b-a|, the last 0 only where they are equal. False where a part is
  /// not finite.
  bool (*squares_apart)(const void* a, const void* b, int count, double* a2, double* b2,
                        double* d2);
  void (*roots)(double* values, int count);
  /// Steps of the part that is further apart, as `ulps` counts them.
  void (*complex_steps)(const void* a, const void* b, int count, const UnitFormat& unit,
                        std::uint32_t* steps);
};

extern const Kernels kScalarKernels, kAvx2Kernels, kAvx512Kernels;

/// Those that this processor can run, the best first.
std::vector<const Kernels*> usable_kernels();

/// The best that this processor has, or what TTCHECK_ISA asks for; chosen once.
const Kernels& kernels();

}  // namespace ttcheck::compare
