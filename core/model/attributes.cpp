// SPDX-License-Identifier: Apache-2.0
#include "core/model/attributes.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace ttcheck {

const std::string* Attributes::text_of(std::string_view key) const {
  if (items_ == nullptr) return nullptr;
  const auto found = std::ranges::find(*items_, key, &Items::value_type::first);
  return found == items_->end() ? nullptr : &found->second;
}

std::optional<double> Attributes::number(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text == nullptr) return std::nullopt;
  double value = 0;
  const char* const end = text->data() + text->size();
  const auto [at, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Attributes::extent(std::string_view key) const {
  constexpr double kMost = 2147483648.0;
  const auto value = number(key);
  if (!value || *value < 1 || *value > kMost || *value != std::trunc(*value)) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> Attributes::flag(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text != nullptr && *text == "true") return true;
  if (text != nullptr && *text == "false") return false;
  return std::nullopt;
}

std::optional<std::string_view> Attributes::word(std::string_view key) const {
  const std::string* text = text_of(key);
  if (text == nullptr || text->size() < 2 || text->front() != '"') return std::nullopt;
  return std::string_view(*text).substr(1, text->size() - 2);
}

}  // namespace ttcheck
