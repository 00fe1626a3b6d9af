// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/error.hpp"

namespace ttcheck::bisect {
namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, bad] = std::from_chars(text.data(), end, number);
  if (bad != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::map<std::size_t, Mark> parse_log(const std::string& text, const std::string& path,
                                      std::span<const StepPair> pairs) {
  std::map<std::size_t, Mark> known;
  std::string_view rest = text;
  for (int line = 1; !rest.empty(); ++line) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view words = rest.substr(0, end);
    if (words.ends_with('\r')) words.remove_suffix(1);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (words.empty() || words.starts_with('#')) continue;
    const std::size_t blank = std::min(words.find(' '), words.size());
    const auto mark = mark_named(words.substr(0, blank));
    const std::string_view which = words.substr(std::min(blank + 1, words.size()));
    const auto step = whole_number(which);
    if (!mark || (!step && which != "-")) {
      throw Error(fmt::format("line {}: expected good, bad or skip and a step, got '{}'", line,
                              words.substr(0, 80)),
                  {.file = path});
    }
    const auto pair = std::ranges::find(pairs, step, &StepPair::step);
    if (pair == pairs.end()) {
      throw Error(fmt::format("line {}: the runs do not share step {}", line, which),
                  {.file = path});
    }
    known[static_cast<std::size_t>(pair - pairs.begin())] = *mark;
  }
  return known;
}

std::string log_line(const StepPair& pair, Mark mark) {
  return fmt::format("{} {}", name(mark),
                     pair.step ? fmt::format("{}", *pair.step) : std::string("-"));
}

}  // namespace ttcheck::bisect
