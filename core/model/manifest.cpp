// SPDX-License-Identifier: Apache-2.0
#include "core/model/manifest.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>

#include "core/base/utf8.hpp"

namespace ttcheck {

std::string manifest_name(const Identity& identity) {
  const std::string name = as_utf8(identity.name);
  if (identity.phase == Phase::none) return name;
  return fmt::format("{}:{}:{}:{}", ttcheck::name(identity.phase), identity.microbatch,
                     identity.call, name);
}

namespace {

/// Takes `NUMBER:` away from the front; nothing where it does not stand there.
std::optional<std::int32_t> take_number(std::string_view& rest) {
  std::int32_t number = 0;
  const auto [end, fault] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (fault != std::errc{} || end == rest.data() + rest.size() || *end != ':') return std::nullopt;
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  return number;
}

}  // namespace

Identity identity_of(std::string_view manifest_name) {
  const std::size_t colon = manifest_name.find(':');
  const auto phase = phase_named(manifest_name.substr(0, colon));
  if (phase && colon != std::string_view::npos && colon > 0) {
    std::string_view rest = manifest_name.substr(colon + 1);
    const auto microbatch = take_number(rest);
    const auto call = microbatch ? take_number(rest) : std::nullopt;
    if (call) return {bytes_of_utf8(rest), *phase, *microbatch, *call};
  }
  return {bytes_of_utf8(manifest_name), Phase::none, 0, 0};
}

}  // namespace ttcheck
