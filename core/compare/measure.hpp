// SPDX-License-Identifier: Apache-2.0
#pragma once
// One logical range of a pair, both sides in memory: bytes -> Metrics.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/compare/rule.hpp"
#include "core/model/dtype.hpp"
#include "core/model/gather.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

/// Scratch of one thread (core/compare/wide.hpp has what is in it); used by one call at a time.
struct Scratch;
struct ScratchDeleter {
  void operator()(Scratch* scratch) const;
};
using ScratchPtr = std::unique_ptr<Scratch, ScratchDeleter>;
ScratchPtr make_scratch();

/// Zeroes elements [begin, end) of a buffer in stored form.
void clear_elements(DType dtype, std::span<std::byte> bytes, std::int64_t begin, std::int64_t end);

/// Measures elements [base, base + count) of a pair. `a` and `b` hold them in stored form, packed
/// from the first. REQUIRES base a multiple of kBlock. Elements in `left_out` (linear ranges of the
/// tensor, ascending) take no part; their bytes in both buffers are overwritten with zeros.
Metrics measure(const Rule& rule, std::int64_t base, std::int64_t count, std::span<std::byte> a,
                std::span<std::byte> b, std::span<const LinearRange> left_out, Scratch& scratch);

}  // namespace ttcheck::compare
