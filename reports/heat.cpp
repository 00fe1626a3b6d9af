// SPDX-License-Identifier: Apache-2.0
#include "reports/heat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::string_view kShades = ".:-=+*#%@";
constexpr std::array<std::string_view, 4> kBlocks = {"░", "▒", "▓", "█"};
constexpr double kBlockStep = 4;  // each shade of UTF-8 is so many times the one before

/// Steps below the largest, each `ratio` wide; at most `most`.
std::size_t steps_below(double size, double largest, double ratio, std::size_t most) {
  const double steps = std::floor(std::log2(largest / size) / std::log2(ratio));
  if (!(steps > 0)) return 0;
  return steps >= static_cast<double>(most) ? most : static_cast<std::size_t>(steps);
}

}  // namespace

std::string Heat::shade(double size) const {
  if (std::isinf(size) || std::isnan(size)) return "!";
  if (!(size > 0)) return " ";
  if (unicode_) {
    const std::size_t most = kBlocks.size() - 1;
    return std::string(kBlocks.at(most - steps_below(size, largest_, kBlockStep, most)));
  }
  const std::size_t most = kShades.size() - 1;
  return std::string(1, kShades[most - steps_below(size, largest_, 2, most)]);
}

std::string Heat::strip(std::span<const double> sizes, std::size_t columns) const {
  std::string text;
  const std::size_t count = std::min(columns, sizes.size());
  for (std::size_t column = 0; column < count; ++column) {
    const std::size_t begin = column * sizes.size() / count;
    const std::size_t end = std::max(begin + 1, (column + 1) * sizes.size() / count);
    double most = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!(sizes[i] <= most)) most = sizes[i];
    }
    text += shade(most);
  }
  return text;
}

std::string Heat::legend() const {
  if (!(largest_ > 0)) return "blank 0, ! where only one side is NaN or infinite";
  const std::string largest = short_number(largest_);
  return unicode_ ? fmt::format("{} up to {}, then each a quarter: {} {} {} (or less), blank 0",
                                kBlocks[3], largest, kBlocks[2], kBlocks[1], kBlocks[0])
                  : fmt::format("@ up to {}, then each half: % # * + = - : . (or less), blank 0",
                                largest);
}

std::string bar(double size, double largest, std::size_t columns, bool unicode) {
  if (!(size > 0) || !(largest > 0)) return "";
  const auto length = std::max<std::size_t>(
      1, static_cast<std::size_t>(std::llround(size / largest * static_cast<double>(columns))));
  std::string text;
  for (std::size_t i = 0; i < std::min(length, columns); ++i) text += unicode ? "█" : "#";
  return text;
}

}  // namespace ttcheck::reports
