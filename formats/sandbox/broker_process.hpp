// SPDX-License-Identifier: Apache-2.0
#pragma once
// The broker's own side.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "formats/sandbox/channel.hpp"

namespace ttcheck::formats {

/// What the broker is asked for. Number and text may come from a process that a hostile file has
/// taken over: an errand does nothing with them that this could misuse. Error comes back as Error.
using Errand = std::function<std::uint64_t(std::uint64_t number, std::string_view text)>;

/// First words of what the broker is asked:
/// an errand: its index, number, text; answered by kErrandDone and a number, or by kErrandFailed,
/// whether it was unable to, message, file, object, reason.
inline constexpr std::uint64_t kErrand = 1;
/// a worker: parser, size of the file, its name, the object in it, argument, two channels.
inline constexpr std::uint64_t kWork = 2;
inline constexpr std::uint64_t kErrandDone = 0, kErrandFailed = 1;

/// Serves until the process at the other end is gone. Does not return.
[[noreturn]] void serve_as_broker(Channel asking, const std::vector<Errand>& errands);

}  // namespace ttcheck::formats
