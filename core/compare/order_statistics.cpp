// Numbers are put into classes by their length and their five leading bits, which the upper bits of
// a float hold: a larger number is never in a lower class, not even where the float is rounded. The
// counts of the classes tell in which of them each place lies, and only its few numbers are sorted.

#include "core/compare/order_statistics.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace ttcheck::compare {
namespace {

constexpr int kIgnored = 23 - 4;  ///< low bits of a float
constexpr std::uint32_t kBelowOne = (std::bit_cast<std::uint32_t>(1.0F) >> kIgnored) - 1;
constexpr std::size_t kClasses =
    (std::bit_cast<std::uint32_t>(0x1p63F) >> kIgnored) - kBelowOne + 1;

/// Halved, a number fits the signed integers that convert fast; 0 and 1 are one class.
std::uint16_t class_of(std::uint64_t number) {
  const auto half = static_cast<float>(static_cast<std::int64_t>(number >> 1));
  const std::uint32_t leading = std::bit_cast<std::uint32_t>(half) >> kIgnored;
  return static_cast<std::uint16_t>(std::max(leading, kBelowOne) - kBelowOne);
}

}  // namespace

std::vector<std::uint64_t> order_statistics(std::span<const std::uint64_t> numbers,
                                            std::span<const std::size_t> places) {
  std::array<std::uint32_t, kClasses> counts{};
  std::vector<std::uint16_t> classes(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    classes[i] = class_of(numbers[i]);
    ++counts[classes[i]];
  }
  std::vector<std::uint64_t> found;
  std::vector<std::uint64_t> alike;
  std::size_t below = 0;  // numbers in classes below `in`
  std::size_t in = 0;
  for (const std::size_t place : places) {
    for (; place - below >= counts[in]; ++in) below += counts[in];
    alike.clear();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (classes[i] == in) alike.push_back(numbers[i]);
    }
    const auto at = alike.begin() + static_cast<std::ptrdiff_t>(place - below);
    std::ranges::nth_element(alike, at);
    found.push_back(*at);
  }
  return found;
}

}  // namespace ttcheck::compare
