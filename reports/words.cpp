// SPDX-License-Identifier: Apache-2.0
#include "reports/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <type_traits>
#include <variant>

#include "reports/escape.hpp"

namespace ttcheck::reports {
namespace {

template <class Number>
std::string fold(const std::vector<Number>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!text.empty()) text += ",";
    text += last == i ? fmt::format("{}", numbers[i])
                      : fmt::format("{}{}{}", numbers[i], last == i + 1 ? "," : "-", numbers[last]);
    i = last + 1;
  }
  return text;
}

constexpr auto kValueWords = [](const auto& held) -> std::string {
  using Held = std::decay_t<decltype(held)>;
  if constexpr (std::is_same_v<Held, std::string>) {
    return terminal_text(held);
  } else if constexpr (std::is_same_v<Held, double>) {
    return fmt::format("{:.6g}", held);
  } else if constexpr (std::is_same_v<Held, std::int64_t>) {
    return fmt::format("{}", held);
  } else {
    constexpr std::size_t kMost = 8;
    if (held.size() <= kMost) return bracketed(held);
    const auto few = std::span(held).first(kMost);
    return fmt::format("[{}, ..] ({} numbers)", fmt::join(few, ", "), held.size());
  }
};

}  // namespace

std::string short_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const double size = std::fabs(value);
  return size >= 1000 && size < 9999.5 ? fmt::format("{:.0f}", value)
                                       : fmt::format("{:.3g}", value);
}

std::string short_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  auto value = static_cast<double>(bytes);
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{} {}", short_number(value), kUnits[unit]);
}

std::string thousands(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  const std::size_t sign = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::int64_t count, const std::string& noun) {
  return fmt::format("{} {}{}", thousands(count), noun, count == 1 ? "" : "s");
}

std::string folded(const std::vector<std::int64_t>& numbers) { return fold(numbers); }
std::string folded(const std::vector<std::int32_t>& numbers) { return fold(numbers); }

std::string stepped(const std::vector<std::int64_t>& numbers) {
  constexpr std::size_t kLeast = 5;  // fewer are as short one by one
  if (numbers.size() < kLeast) return folded(numbers);
  const std::int64_t apart = numbers[1] - numbers[0];
  for (std::size_t i = 2; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] != apart) return folded(numbers);
  }
  return apart < 2 ? folded(numbers)
                   : fmt::format("{}-{} by {}", numbers.front(), numbers.back(), apart);
}

std::string bracketed(std::span<const std::int64_t> numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string mesh_words(const Mesh& mesh) {
  std::vector<std::string> words;
  for (const auto* axes : {&mesh.axes, &mesh.expert_axes}) {
    for (const Axis& axis : *axes) {
      const std::string word = fmt::format("{}={}", terminal_text(axis.name), axis.size);
      if (axis.size > 1 && std::find(words.begin(), words.end(), word) == words.end()) {
        words.push_back(word);
      }
    }
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string axes_words(const AxisCoordinates& axes) {
  std::vector<std::string> words;
  for (const auto& [axis, coordinates] : axes) {
    words.push_back(fmt::format("{}={}", terminal_text(axis), folded(coordinates)));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string hypothesis_words(const Hypothesis& hypothesis) {
  std::string text = terminal_text(hypothesis.name);
  for (const auto& [key, parameter] : hypothesis.parameters) {
    text += fmt::format(" {}={}", terminal_text(key), std::visit(kValueWords, parameter));
  }
  return text + fmt::format(", residual {}", short_number(hypothesis.residual));
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0%";
  return short_number(100.0 * static_cast<double>(part) / static_cast<double>(whole)) + "%";
}

std::string_view severity_word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  return "";
}

std::string shown(const Identity& identity) {
  if (identity.phase == Phase::none) return terminal_text(identity.name);
  std::string text = fmt::format("{} {}", name(identity.phase), terminal_text(identity.name));
  if (identity.microbatch > 0) text += fmt::format(", micro-batch {}", identity.microbatch);
  if (identity.call > 0) text += fmt::format(", call {}", identity.call);
  return text;
}

}  // namespace ttcheck::reports
