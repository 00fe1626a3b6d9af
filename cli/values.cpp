// SPDX-License-Identifier: Apache-2.0
#include "cli/values.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/usage.hpp"
#include "core/base/error.hpp"
#include "core/base/glob.hpp"

namespace ttcheck::cli {
namespace {

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse(std::string_view flag, std::string_view expected, std::string_view text) {
  throw Usage(fmt::format("{}: expected {}, got '{}'", flag, expected, text));
}

std::vector<std::string> report_names() {
  std::vector<std::string> names;
  for (const reports::Report& report : reports::reports()) names.emplace_back(report.name);
  return names;
}

/// FILE, reference=FILE or candidate=FILE.
SideFile side_file(const std::string& text) {
  for (const auto& [side, word] : {std::pair{Side::reference, std::string_view("reference=")},
                                   std::pair{Side::candidate, std::string_view("candidate=")}}) {
    if (text.starts_with(word)) return {side, text.substr(word.size())};
  }
  return {Side::both, text};
}

}  // namespace

std::int64_t parse_number(std::string_view flag, const std::string& text, std::int64_t lowest,
                          std::int64_t highest) {
  const auto value = whole_number<std::int64_t>(text);
  if (!value || *value < lowest || *value > highest) {
    refuse(flag, fmt::format("a whole number from {} to {}", lowest, highest), text);
  }
  return *value;
}

std::uint64_t parse_bytes(std::string_view flag, const std::string& text) {
  constexpr std::string_view kExpected = "bytes, such as 512M or 2G (powers of 1024)";
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = whole_number<std::uint64_t>(std::string_view(text).substr(0, digits));
  std::string_view unit = std::string_view(text).substr(digits);
  int shift = 0;
  if (!unit.empty() && unit != "B") {
    const std::size_t power = std::string_view("KMGT").find(unit.front());
    if (power == std::string_view::npos) refuse(flag, kExpected, text);
    shift = 10 * (static_cast<int>(power) + 1);
    unit.remove_prefix(1);
  }
  if (!count || *count == 0 || (!unit.empty() && unit != "B" && unit != "iB") ||
      *count > (std::numeric_limits<std::uint64_t>::max() >> shift)) {
    refuse(flag, kExpected, text);
  }
  return *count << shift;
}

StepRange parse_steps(const std::string& text) {
  constexpr std::string_view kExpected = "a step or a range of them: A, A..B, A.. or ..B";
  const std::size_t dots = text.find("..");
  const auto end = [&](std::string_view part) -> std::optional<std::int64_t> {
    if (part.empty()) return std::nullopt;
    const auto value = whole_number<std::int64_t>(part);
    if (!value || *value < 0) refuse("--step", kExpected, text);
    return value;
  };
  if (dots == std::string::npos) {
    const auto step = end(text);
    if (!step) refuse("--step", kExpected, text);
    return {step, step};
  }
  StepRange range{end(std::string_view(text).substr(0, dots)),
                  end(std::string_view(text).substr(dots + 2))};
  if (!range.first && !range.last) refuse("--step", kExpected, text);
  if (range.first && range.last && *range.first > *range.last) {
    refuse("--step", "the first step to be no later than the last", text);
  }
  return range;
}

limits::ToleranceRule parse_tolerance(std::string_view flag, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const bool whole = colon == std::string::npos;
  const std::string_view number = whole ? text : std::string_view(text).substr(colon + 1);
  limits::ToleranceRule rule{whole ? "" : text.substr(0, colon), 0};
  const auto [end, fault] =
      std::from_chars(number.data(), number.data() + number.size(), rule.value);
  if (fault != std::errc{} || end != number.data() + number.size() || !std::isfinite(rule.value) ||
      rule.value < 0) {
    refuse(flag, "a number not below 0, such as 1e-3, or GLOB:NUMBER", text);
  }
  if (!rule.glob.empty()) parse_glob(flag, rule.glob);
  return rule;
}

void parse_glob(std::string_view flag, const std::string& text) {
  try {
    static_cast<void>(Glob(text));
  } catch (const Error& error) {
    throw Usage(fmt::format("{}: expected a glob over dotted names: {}", flag, error.message()));
  }
}

OutputTarget parse_output(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const reports::Report* report = reports::report_named(name);
  if (report == nullptr) {
    throw Usage(fmt::format("--out: expected FORMAT=PATH with a format of {}, got '{}'{}",
                            fmt::join(report_names(), ", "), text,
                            did_you_mean(name, report_names())));
  }
  if (equals == std::string::npos || equals + 1 == text.size()) {
    refuse("--out", fmt::format("a path after the format: {}=PATH, or {}=- for stdout", name, name),
           text);
  }
  return {report, text.substr(equals + 1)};
}

SideFile parse_layout_file(const std::string& text) {
  SideFile file = side_file(text);
  if (file.path.empty()) refuse("--layout", "FILE, reference=FILE or candidate=FILE", text);
  return file;
}

SideFile parse_manifest(const std::string& text) {
  SideFile file = side_file(text);
  if (file.side == Side::both || file.path.empty()) {
    refuse("--manifest", "reference=FILE or candidate=FILE", text);
  }
  return file;
}

std::size_t parse_choice(std::string_view flag, const std::string& text,
                         const std::vector<std::string>& choices) {
  const auto found = std::ranges::find(choices, text);
  if (found == choices.end()) {
    throw Usage(fmt::format("{}: expected one of {}, got '{}'{}", flag, fmt::join(choices, ", "),
                            text, did_you_mean(text, choices)));
  }
  return static_cast<std::size_t>(found - choices.begin());
}

}  // namespace ttcheck::cli
