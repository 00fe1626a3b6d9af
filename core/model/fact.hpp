// SPDX-License-Identifier: Apache-2.0
#pragma once
// A typed value that an input states about itself, with its place.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/error.hpp"

namespace ttcheck {

using FactValue = std::variant<bool, std::int64_t, double, std::string>;

/// Facts that shape the function or the update (heads, rope theta, eps, learning rate, betas,
/// iteration) are compared; a random state or a blob is opaque: only that it differs can be told;
/// paths, times and versions are notes.
enum class FactUse : std::uint8_t { compared, opaque, note };

/// What states a fact, where its silence says something, too: the framework then takes its default.
enum class FactSource : std::uint8_t { none, config, arguments, groups };

struct Fact {
  std::string name;  ///< dotted, lower-case: `model.heads`, `optimizer.groups.0.lr`, `rng.torch`
  FactValue value;
  FactUse use = FactUse::compared;
  Where where;
  FactSource source = FactSource::none;
  bool assumed = false;  ///< the source does not state it: the framework's default
  bool unread = false;   ///< could not be read: the value says why, and equals nothing
};

/// The value as text: numbers in shortest round-trip form, strings as they are.
std::string to_string(const FactValue& value);

/// A real or whole number; nothing for a truth value or text.
std::optional<double> number_of(const FactValue& value);

/// The first fact of that name, or null.
const Fact* find_fact(std::span<const Fact> facts, std::string_view name);

}  // namespace ttcheck
