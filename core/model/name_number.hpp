// SPDX-License-Identifier: Apache-2.0
#pragma once
// The numbers in dotted names: layers, experts.

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace ttcheck {

/// The first part of a name that is a number of at most nine digits, and what follows it (with its
/// dot).
std::optional<std::pair<std::int64_t, std::string_view>> first_number(std::string_view name);

/// A name around its first number: `layers.`, 7 and `.up.weight`.
struct AroundNumber {
  std::string_view before;
  std::int64_t number = 0;
  std::string_view rest;
};

/// Nothing where no part is a number.
std::optional<AroundNumber> around_first_number(std::string_view name);

/// `layers.2` of `layers.2.up.weight`; empty where no part is a number, or nothing follows it.
std::string_view layer_of(std::string_view name);

}  // namespace ttcheck
