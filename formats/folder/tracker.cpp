// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/tracker.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdint>
#include <string>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kMaxTracker = 4096;

}  // namespace

Fact read_tracker_file(const Root& root, std::string_view name) {
  std::string text = root.text(name, kMaxTracker);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) {
    text.pop_back();
  }
  return {fmt::format("tracker.{}", name), std::move(text), FactUse::note,
          root.file(name).where(0)};
}

}  // namespace ttcheck::formats
