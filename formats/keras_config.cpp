#include "formats/keras_config.hpp"

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

bool carries_code(const Json& object) {
  const std::optional<Json> name = object.find("class_name");
  return name && name->is(Json::Kind::string) &&
         std::ranges::find(kCarriers, name->string()) != kCarriers.end();
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
    return {odd(where, "the model's definition is no JSON: " + error.message())};
  }
}

}  // namespace ttcheck::formats
