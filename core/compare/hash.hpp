// SPDX-License-Identifier: Apache-2.0
#pragma once
// The hash of a logical tensor, however it is cut and stored.

#include <cstdint>
#include <string>

#include "core/model/tensor.hpp"

namespace ttcheck::compare {

struct Hash {
  std::string text;      ///< `xxh3:<16 hex>`
  bool constant = true;  ///< all elements have the same bits
};

/// XXH3-64 of the values in row-major order, little-endian, as a trace's `hash` of a rank that
/// holds the tensor whole. Of `reduce` tensors: of the reduced values. Memory: one range of 1 MiB.
/// Throws Error where something cannot be read, and on a tensor with holes.
Hash hash_of(const Tensor& tensor);

/// The hash that hash_of gives, of elements [begin, begin + count) alone. REQUIRES both multiples
/// of 8 for packed dtypes, or `count` reaching the end.
Hash hash_of_range(const Tensor& tensor, std::int64_t begin, std::int64_t count);

}  // namespace ttcheck::compare
