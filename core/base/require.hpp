// SPDX-License-Identifier: Apache-2.0
#pragma once
// What code of ours owes to code of ours, checked while we work on the program.

#include <source_location>

namespace ttcheck {

#ifndef TTCHECK_REQUIRE
#define TTCHECK_REQUIRE 0
#endif
/// True in the builds that check: dev, tidy and those with sanitizers (cmake/Settings.cmake).
inline constexpr bool kRequires = TTCHECK_REQUIRE != 0;

/// Says on stderr where `what` was expected and is not so, and aborts.
[[noreturn, gnu::cold]] void broken(const char* what, std::source_location place);

/// Aborts where a precondition (REQUIRES in a header) does not hold, or whatever else only a
/// mistake of ours makes false; nothing that a user gives ever does. `what` says what is expected.
/// A release neither checks nor pays; a condition that calls what no optimizer takes away stands
/// under `if constexpr (kRequires)`.
[[gnu::always_inline]] constexpr void require(
    bool condition, const char* what,
    std::source_location place = std::source_location::current()) {
  if constexpr (kRequires) {
    if (!condition) broken(what, place);
  }
}

}  // namespace ttcheck
