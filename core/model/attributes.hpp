// SPDX-License-Identifier: Apache-2.0
#pragma once
// `attrs` of a record, read with care: nothing where there is none of that name, or another type.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttcheck {

class Attributes {
 public:
  using Items = std::vector<std::pair<std::string, std::string>>;  ///< key, JSON text

  Attributes() = default;
  /// `items` must outlive it.
  explicit Attributes(const Items& items) : items_(&items) {}

  std::optional<double> number(std::string_view key) const;        ///< finite
  std::optional<std::int64_t> extent(std::string_view key) const;  ///< 1 .. 2^31
  std::optional<bool> flag(std::string_view key) const;
  std::optional<std::string_view> word(std::string_view key) const;

 private:
  const std::string* text_of(std::string_view key) const;

  const Items* items_ = nullptr;
};

}  // namespace ttcheck
