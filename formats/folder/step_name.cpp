// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/step_name.hpp"

#include <array>
#include <charconv>

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 10> kPrefixes = {
    "checkpoint-", "checkpoint_", "step-",       "step_",        "step",
    "iter_",       "ckpt-",       "global_step", "global_step_", ""};

/// DeepSpeed's converted checkpoints: `global_stepN_universal`.
constexpr std::string_view kDeepspeedStep = "global_step";
constexpr std::string_view kUniversal = "_universal";

std::optional<std::int64_t> whole_number(std::string_view digits) {
  std::int64_t value = 0;
  if (digits.empty() || digits.front() < '0' || digits.front() > '9') return std::nullopt;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> lightning_step(std::string_view name) {
  constexpr std::string_view kKey = "step=";
  const std::size_t at = name.rfind(kKey);
  if (at == std::string_view::npos || !name.ends_with(".ckpt")) return std::nullopt;
  const std::string_view rest = name.substr(at + kKey.size());
  const std::size_t end = rest.find_first_not_of("0123456789");
  return whole_number(rest.substr(0, end));
}

}  // namespace

std::optional<std::int64_t> trailing_number(std::string_view text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  return whole_number(last == std::string_view::npos ? text : text.substr(last + 1));
}

std::optional<std::int64_t> step_of_path(std::string_view path, std::string_view prefix) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  return name.starts_with(prefix) ? step_of_name(name, true) : std::nullopt;
}

std::optional<std::int64_t> step_of_name(std::string_view name, bool directory) {
  if (const auto step = lightning_step(name)) return step;  // a folder where ranks share the save
  if (!directory) {
    const std::size_t dot = name.rfind('.');
    // Dumped arrays are named like this too: a folder of them is one state.
    if (dot == std::string_view::npos || name.substr(dot) == ".npy") return std::nullopt;
    name = name.substr(0, dot);
  } else if (name.starts_with(kDeepspeedStep) && name.ends_with(kUniversal)) {
    name.remove_suffix(kUniversal.size());
  }
  for (const std::string_view prefix : kPrefixes) {
    if (!name.starts_with(prefix) || (prefix.empty() && !directory)) continue;
    if (const auto step = whole_number(name.substr(prefix.size()))) return step;
  }
  return std::nullopt;
}

}  // namespace ttcheck::formats
