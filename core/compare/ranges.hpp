#pragma once
// How a pair is cut into logical ranges, and the per-thread buffers they are read into. The cuts
// depend on dtypes and shape alone, so results depend on nothing else.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/compare/compare.hpp"
#include "core/compare/measure.hpp"

namespace ttcheck::compare {

/// Elements of one range of a pair: 1 MiB of the wider dtype, a multiple of kBlock.
std::int64_t range_elements(DType a, DType b);

/// Two buffers of 1 MiB and one to compare replicas in, a few KiB apart from page alignment so that
/// the streams do not fall on the same cache sets.
class Buffers {
 public:
  Buffers();

  std::span<std::byte> a(DType dtype, std::int64_t count) { return slice(0, dtype, count); }
  std::span<std::byte> b(DType dtype, std::int64_t count) { return slice(1, dtype, count); }
  std::span<std::byte> replica(DType dtype, std::int64_t count) { return slice(2, dtype, count); }
  Scratch& scratch() { return *scratch_; }

 private:
  std::span<std::byte> slice(std::size_t which, DType dtype, std::int64_t count);

  std::unique_ptr<std::byte[]> bytes_;
  ScratchPtr scratch_;
};

/// One for each thread, made when first asked for.
class BufferPool {
 public:
  BufferPool();
  Buffers& mine();

 private:
  std::vector<std::unique_ptr<Buffers>> all_;
};

/// The holes of both sides within [begin, end).
std::vector<LinearRange> holes_of(const Pair& pair, std::int64_t begin, std::int64_t end);

}  // namespace ttcheck::compare
