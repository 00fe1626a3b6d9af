// SPDX-License-Identifier: Apache-2.0
#include "core/compare/pair_values.hpp"

#include "core/compare/ranges.hpp"
#include "core/compare/values.hpp"

namespace ttcheck::compare {

bool has_real_values(const Pair& pair) {
  const auto fits = [](const Tensor& tensor) {
    return tensor.stored && tensor.holes.empty() && !is_complex(tensor.dtype);
  };
  return fits(*pair.reference) && fits(*pair.candidate);
}

std::span<const double> PairValues::reference(std::int64_t begin, std::int64_t count) {
  return read(*pair_.reference, pair_.reference_map, at_hand_.reference, begin, count, a_);
}

std::span<const double> PairValues::candidate(std::int64_t begin, std::int64_t count) {
  return read(*pair_.candidate, pair_.candidate_map, at_hand_.candidate, begin, count, b_);
}

std::span<const double> PairValues::read(const Tensor& tensor, const ValueMap* map,
                                         std::span<const std::byte> at_hand, std::int64_t begin,
                                         std::int64_t count, std::vector<double>& values) {
  values.resize(static_cast<std::size_t>(count));
  if (at_hand.empty()) {
    bytes_.resize(byte_size(tensor.dtype, count));
    fetch(tensor, map, begin, count, bytes_);
    at_hand = bytes_;
  } else {
    at_hand = at_hand.subspan(byte_size(tensor.dtype, begin), byte_size(tensor.dtype, count));
  }
  to_doubles(tensor.dtype, at_hand.data(), count, values.data());
  return values;
}

}  // namespace ttcheck::compare
