// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/directory_names.hpp"

#include <fmt/format.h>

#include <charconv>

namespace ttcheck::formats {
namespace {

constexpr std::string_view kPrefix = "mp_rank_";
constexpr std::size_t kMaxNumbers = 3;
constexpr std::size_t kMaxDigits = 7;

}  // namespace

std::vector<std::int64_t> rank_numbers(std::string_view name) {
  if (!name.starts_with(kPrefix)) return {};
  name.remove_prefix(kPrefix.size());
  std::vector<std::int64_t> numbers;
  for (;;) {
    const std::size_t end = name.find('_');
    const std::string_view digits = name.substr(0, end);
    std::int64_t value = 0;
    const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    const bool whole = error == std::errc{} && last == digits.data() + digits.size();
    if (!whole || value < 0 || digits.size() > kMaxDigits || numbers.size() == kMaxNumbers) {
      return {};
    }
    numbers.push_back(value);
    if (end == std::string_view::npos) return numbers;
    name.remove_prefix(end + 1);
  }
}

std::optional<RankPlace> place_of(const std::vector<std::int64_t>& numbers, bool pipeline,
                                  bool expert) {
  const std::size_t wanted = 1 + std::size_t{pipeline} + std::size_t{expert};
  if (numbers.size() != wanted) return std::nullopt;
  return RankPlace{numbers[0], pipeline ? numbers[1] : 0, expert ? numbers.back() : 0};
}

std::string directory_of(const RankPlace& place, bool pipeline, bool expert) {
  const auto& [tp, pp, ep] = place;
  std::string name = fmt::format("{}{:02}", kPrefix, tp);
  if (pipeline) name += fmt::format("_{:03}", pp);
  if (expert) name += fmt::format("_{:03}", ep);
  return name;
}

}  // namespace ttcheck::formats
