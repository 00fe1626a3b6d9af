// SPDX-License-Identifier: Apache-2.0
#include "reports/paint.hpp"

#include <fmt/format.h>

namespace ttcheck::reports {
namespace {

// SGR parameters of ECMA-48, bold with one of the eight colours that every terminal has.
constexpr std::string_view kRed = "1;31";
constexpr std::string_view kGreen = "1;32";
constexpr std::string_view kYellow = "1;33";
constexpr std::string_view kCyan = "1;36";

}  // namespace

std::string Paint::with(std::string_view code, std::string_view text) const {
  return on_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
}

std::string Paint::of(Outcome outcome, std::string_view text) const {
  switch (outcome) {
    case Outcome::equal:
      return with(kGreen, text);
    case Outcome::noise:
      return with(kCyan, text);
    case Outcome::diverged:
      return with(kRed, text);
    case Outcome::not_comparable:
      return with(kYellow, text);
  }
  return std::string(text);
}

std::string Paint::of(Severity severity, std::string_view text) const {
  switch (severity) {
    case Severity::error:
      return with(kRed, text);
    case Severity::warning:
      return with(kYellow, text);
    case Severity::note:
      return with(kCyan, text);
  }
  return std::string(text);
}

}  // namespace ttcheck::reports
