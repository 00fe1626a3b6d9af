// SPDX-License-Identifier: Apache-2.0
#include "core/explain/bit_flip.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "core/compare/ranges.hpp"
#include "core/model/turned_bit.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostFlips = 8;
constexpr double kPenaltyOne = 1.1, kPenaltyEach = 2;  // of one, and times this for each more
constexpr double kBeyondNoise = 30;                    // what a flip changes, at least

/// The bits of one element as they are stored.
std::uint64_t stored_code(const Tensor& tensor, std::int64_t index) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  const auto width = static_cast<std::size_t>(byte_size(tensor.dtype, 1));
  compare::fetch(tensor, nullptr, index, 1, std::span(bytes).first(width));
  std::uint64_t code = 0;
  std::memcpy(&code, bytes.data(), sizeof code);
  return code;
}

TurnedBit turned_in(const WrongElement& element, const Tensor& candidate) {
  if (std::isfinite(element.candidate)) {
    return turned_bit(candidate.dtype, element.candidate, element.reference);
  }
  return turned_bit_of(candidate.dtype, stored_code(candidate, element.index), element.reference);
}

}  // namespace

std::optional<Explanation> bit_flip(const Subject& subject, const Survey& seen) {
  const DType dtype = subject.pair.candidate->dtype;
  if (seen.wrong < 1 || seen.wrong > kMostFlips || is_exact(dtype)) return std::nullopt;
  if (subject.metrics().count < 2) return std::nullopt;  // nothing beside it shows that it is one
  if (subject.pair.mapped() || seen.sum_a2 <= 0) return std::nullopt;
  if (!std::isfinite(subject.noise)) return std::nullopt;  // any number would do
  const bool exact = subject.result->limit.rel == 0;
  double left = seen.right_d2;
  std::vector<std::int64_t> indices, places;
  for (const WrongElement& element : seen.elements) {
    const TurnedBit flip = turned_in(element, *subject.pair.candidate);
    // Rounded once when the dtypes differ, and by noise where there is any.
    const double allowed = exact && subject.pair.reference->dtype == dtype
                               ? 0
                               : 4 * subject.noise * std::fabs(element.reference);
    if (flip.bit < 0 || flip.left > allowed) return std::nullopt;
    const double change = std::fabs(element.candidate - element.reference);
    if (change < kBeyondNoise * allowed) return std::nullopt;
    left += flip.left * flip.left;
    places.push_back(flip.bit);
    indices.push_back(element.index);
  }
  // Several numbers of the other sign were negated, and no bits turned over by chance.
  const auto is_sign = [&](std::int64_t bit) { return bit + 1 == bits(dtype); };
  if (places.size() > 1 && std::ranges::all_of(places, is_sign)) return std::nullopt;
  // One unit is what rounding does.
  if (std::ranges::all_of(places, [](std::int64_t bit) { return bit == 0; })) return std::nullopt;
  const Shape& shape = subject.pair.reference->shape;
  const auto in_shape = [&](std::int64_t index) { return unravel(shape, index); };
  Explanation found;
  found.code = Code::bit_flip;
  found.hypothesis.name = "bit-flip";
  if (places.size() == 1) {
    const Extents index = in_shape(indices[0]);
    found.hypothesis.parameters = {{"index", std::vector<std::int64_t>(index.begin(), index.end())},
                                   {"bit", places[0]}};
    found.words =
        fmt::format("bit {} of that one element of {} is turned over", places[0], name(dtype));
  } else {
    std::vector<std::int64_t> flat;
    for (const std::int64_t index : indices) {
      const Extents at = in_shape(index);
      flat.insert(flat.end(), at.begin(), at.end());
    }
    found.hypothesis.parameters = {{"index", flat}, {"bit", places}};
    found.words = fmt::format("one bit is turned over in each of {} elements of {}", places.size(),
                              name(dtype));
  }
  found.hypothesis.residual = std::sqrt(left / seen.sum_a2);
  found.penalty = kPenaltyOne * std::pow(kPenaltyEach, static_cast<double>(places.size() - 1));
  return found;
}

}  // namespace ttcheck::explain
