// Bytes are a polynomial over GF(2), and its remainder stays when high terms are replaced by what
// they are congruent to (Gopal and others, "Fast CRC Computation for Generic Polynomials Using
// PCLMULQDQ Instruction", Intel 2009): four lanes of 16 bytes are multiplied by x^512 mod P and
// added to the next 64 bytes, at the end the lanes by x^128 to each other. The 16 bytes that are
// left have the same remainder as all before them; zlib takes it, and the tail.

#include "formats/bytes/crc32.hpp"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

std::uint32_t plain(std::uint32_t crc, std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

#if defined(__x86_64__)

constexpr std::size_t kLane = 16;
constexpr std::size_t kBlock = 4 * kLane;

__attribute__((target("sse2,pclmul"))) __m128i load(const std::byte* at) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
}

/// `lane` moved on by as many bits as the constants stand for, added to `next`.
__attribute__((target("sse2,pclmul"))) __m128i fold(__m128i lane, __m128i by, __m128i next) {
  const __m128i low = _mm_clmulepi64_si128(lane, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(lane, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/// REQUIRES at least one block, and nothing beyond whole blocks.
__attribute__((target("sse2,pclmul"))) std::uint32_t folded(std::uint32_t crc,
                                                            std::span<const std::byte> bytes) {
  // Reflected x^(512+32), x^(512-32) and x^(128+32), x^(128-32) mod P, from the paper.
  const __m128i by_block = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
  const __m128i by_lane = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  __m128i a = _mm_xor_si128(load(at), _mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m128i b = load(at + kLane);
  __m128i c = load(at + 2 * kLane);
  __m128i d = load(at + 3 * kLane);
  for (at += kBlock; at != end; at += kBlock) {
    a = fold(a, by_block, load(at));
    b = fold(b, by_block, load(at + kLane));
    c = fold(c, by_block, load(at + 2 * kLane));
    d = fold(d, by_block, load(at + 3 * kLane));
  }
  const __m128i left = fold(fold(fold(a, by_lane, b), by_lane, c), by_lane, d);
  std::byte rest[kLane];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(rest), left);
  return plain(~std::uint32_t{0}, rest);  // zlib inverts it: a state of 0
}

#endif

}  // namespace

std::uint32_t crc32_of(std::uint32_t crc, std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  static const bool fast = __builtin_cpu_supports("pclmul") != 0;
  const std::size_t whole = bytes.size() - bytes.size() % kBlock;
  if (fast && whole != 0) {
    crc = folded(crc, bytes.first(whole));
    bytes = bytes.subspan(whole);
  }
#endif
  return plain(crc, bytes);
}

std::uint32_t crc32_joined(std::uint32_t first, std::uint32_t second, std::uint64_t size) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, checked_cast<z_off_t>(size)));
}

}  // namespace ttcheck::formats
