// SPDX-License-Identifier: Apache-2.0
#include "core/compare/order_statistics.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace ttcheck::compare {
namespace {

/// `count` numbers from `lowest` on, of up to `width` bits; one in a hundred is of 64 bits.
std::vector<std::uint64_t> numbers(std::size_t count, std::uint64_t lowest, int width) {
  std::mt19937_64 random(count + static_cast<std::size_t>(width));
  std::vector<std::uint64_t> all(count);
  for (std::uint64_t& number : all) {
    const std::uint64_t bits = random() >> 1;
    number = random() % 100 == 0 ? bits : lowest + (bits >> (63 - width));
  }
  return all;
}

TEST_CASE("order statistics are those of the sorted list") {
  for (const std::size_t count : {1U, 2U, 65U, 1000U, 100'000U}) {
    for (const std::uint64_t lowest :
         {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{1} << 40}) {
      for (const int width : {0, 1, 7, 8, 20, 63}) {
        CAPTURE(count);
        CAPTURE(lowest);
        CAPTURE(width);
        std::vector<std::uint64_t> all = numbers(count, lowest, width);
        const std::vector<std::size_t> places = {0, count / 2, count * 9 / 10, count - 1};
        const std::vector<std::uint64_t> found = order_statistics(all, places);
        std::ranges::sort(all);
        for (std::size_t i = 0; i < places.size(); ++i) CHECK(found[i] == all[places[i]]);
      }
    }
  }
}

TEST_CASE("of no number there is none") { CHECK(order_statistics({}, {}).empty()); }

}  // namespace
}  // namespace ttcheck::compare
