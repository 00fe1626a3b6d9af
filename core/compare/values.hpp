// SPDX-License-Identifier: Apache-2.0
#pragma once
// A real tensor as doubles, a range at a time.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/decode.hpp"
#include "core/model/gather.hpp"

namespace ttcheck::compare {

/// Elements of a range; a multiple of 8 for packed types.
inline constexpr std::int64_t kValuesRange = 1 << 16;

/// Whether both sides can be read so, whole, and have this shape; not where a map makes their
/// values.
inline bool readable(const Pair& pair, const Shape& shape) {
  const auto fits = [&](const Tensor& tensor) {
    return tensor.stored && tensor.shape == shape && tensor.holes.empty() &&
           !is_complex(tensor.dtype);
  };
  return !pair.mapped() && fits(*pair.reference) && fits(*pair.candidate);
}

/// Consecutive elements of a tensor, which must outlive this.
class Values {
 public:
  explicit Values(const Tensor& tensor) : tensor_(tensor) {}

  /// Good until the next call. Throws Error.
  std::span<const double> read(std::int64_t begin, std::int64_t count) {
    bytes_.resize(byte_size(tensor_.dtype, count));
    values_.resize(static_cast<std::size_t>(count));
    gather(tensor_, begin, count, bytes_);
    to_doubles(tensor_.dtype, bytes_.data(), count, values_.data());
    return values_;
  }

 private:
  const Tensor& tensor_;
  std::vector<std::byte> bytes_;
  std::vector<double> values_;
};

/// Calls visit(begin, count) for ranges of [0, count) in order. Throws Stopped.
template <class Visit>
void for_ranges(std::int64_t count, const Stop& stop, Visit&& visit) {
  for (std::int64_t begin = 0; begin < count; begin += kValuesRange) {
    if (stop && stop()) throw Stopped();
    visit(begin, std::min(kValuesRange, count - begin));
  }
}

}  // namespace ttcheck::compare
