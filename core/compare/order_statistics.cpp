// SPDX-License-Identifier: Apache-2.0
// The numbers from the smallest to the largest are put into 256 classes of equal width, whose
// counts tell in which one a place lies. That class alone is then looked at, as a list of its own
// if it is long: each time, its numbers lie at least 128 times as close together.

#include "core/compare/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "core/base/require.hpp"

namespace ttcheck::compare {
namespace {

constexpr int kClassBits = 8;
constexpr std::size_t kShort =
    64;  ///< sorting so many takes no longer than to put them into classes

class Buckets {
 public:
  /// REQUIRES a number.
  explicit Buckets(std::span<const std::uint64_t> numbers)
      : numbers_(numbers),
        smallest_(std::ranges::min(numbers)),
        shift_(std::max(0, static_cast<int>(std::bit_width(std::ranges::max(numbers) - smallest_)) -
                               kClassBits)),
        class_of_(numbers.size()) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      class_of_[i] = static_cast<std::uint8_t>((numbers[i] - smallest_) >> shift_);
      ++counts_[class_of_[i]];
    }
  }

  /// The numbers of the class that the place lies in, once if they are all the same; `place` is
  /// then that among them.
  std::vector<std::uint64_t> around(std::size_t& place) const {
    std::size_t in = 0;
    for (; place >= counts_[in]; ++in) place -= counts_[in];
    if (shift_ == 0) {
      place = 0;
      return {smallest_ + in};
    }
    std::vector<std::uint64_t> alike;
    alike.reserve(counts_[in]);
    const std::uint8_t* const begin = class_of_.data();
    const std::uint8_t* const end = begin + class_of_.size();
    for (const std::uint8_t* at = begin; alike.size() < counts_[in]; ++at) {
      at = static_cast<const std::uint8_t*>(
          std::memchr(at, static_cast<int>(in), static_cast<std::size_t>(end - at)));
      alike.push_back(numbers_[static_cast<std::size_t>(at - begin)]);
    }
    return alike;
  }

 private:
  std::span<const std::uint64_t> numbers_;
  std::uint64_t smallest_;
  int shift_;
  std::vector<std::uint8_t> class_of_;
  std::array<std::uint32_t, 1 << kClassBits> counts_{};
};

}  // namespace

std::vector<std::uint64_t> order_statistics(std::span<const std::uint64_t> numbers,
                                            std::span<const std::size_t> places) {
  std::vector<std::uint64_t> found;
  if (places.empty()) return found;  // of which there may be no numbers
  const Buckets buckets(numbers);
  for (std::size_t place : places) {
    require(place < numbers.size(), "a place among the numbers");
    std::vector<std::uint64_t> alike = buckets.around(place);
    while (alike.size() > kShort) {
      alike = Buckets(alike).around(place);
    }
    const auto at = alike.begin() + static_cast<std::ptrdiff_t>(place);
    std::ranges::nth_element(alike, at);
    found.push_back(*at);
  }
  return found;
}

}  // namespace ttcheck::compare
