// SPDX-License-Identifier: Apache-2.0
#include "formats/arrays/keras_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 2> kCarriers = {"Lambda", "__lambda__"};

/// Whether any member of that name carries code: readers differ on which one of duplicates counts.
bool carries_code(const Json& object) {
  for (const auto& [key, value] : object.members()) {
    const bool names = key == "class_name" && value.is(Json::Kind::string);
    if (names && std::ranges::find(kCarriers, value.string()) != kCarriers.end()) return true;
  }
  return false;
}

/// What other readers take (`NaN`, deep nesting) may carry code where it is no JSON here.
bool may_carry_code(std::string_view text) {
  return std::ranges::any_of(
      kCarriers, [&](std::string_view name) { return text.find(name) != std::string_view::npos; });
}

/// Objects of the tree that carry code.
std::int64_t carriers(const Json& root) {
  std::int64_t count = 0;
  std::vector<Json> rest = {root};
  while (!rest.empty()) {
    const Json next = rest.back();
    rest.pop_back();
    if (next.is(Json::Kind::array)) {
      for (const Json& item : next.items()) rest.push_back(item);
    } else if (next.is(Json::Kind::object)) {
      if (carries_code(next)) ++count;
      for (const auto& [key, value] : next.members()) rest.push_back(value);
    }
  }
  return count;
}

}  // namespace

std::vector<Finding> keras_findings(const std::string& config, const Where& where) {
  try {
    const JsonDocument document(config, where.file, 0, Duplicates::keep);
    const std::int64_t count = carriers(document.root());
    if (count == 0) return {};
    return {odd(
        where, fmt::format("the model's definition carries code (never run), in places: {}", count),
        Code::unsafe_pickle)};
  } catch (const Error& error) {
    std::vector<Finding> findings = {
        odd(where, "the model's definition is no JSON: " + error.message())};
    if (may_carry_code(config)) {
      findings.push_back(
          odd(where, "the model's definition may carry code (never run)", Code::unsafe_pickle));
    }
    return findings;
  }
}

}  // namespace ttcheck::formats
