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

struct Kernels {
  std::string_view name;
  /// By Load of a and of b; `rtol` and `atol` are for `beyond`.
  void (*pair[kLoads][kLoads])(const Block& block, float rtol, float atol, BlockResult& result);
  /// Of `a` alone, where b has the same bits: a2 only.
  void (*square[kLoads])(const Block& block, BlockResult& result);
  /// out[i] = table[codes[i]], for `count` a multiple of 16.
  void (*expand)(const std::uint8_t* codes, const float* table, int count, float* out);
};

extern const Kernels kScalarKernels, kAvx2Kernels, kAvx512Kernels;

/// Those that this processor can run, the best first.
std::vector<const Kernels*> usable_kernels();

/// The best that this processor has, or what TTCHECK_ISA asks for; chosen once.
const Kernels& kernels();

}  // namespace ttcheck::compare
