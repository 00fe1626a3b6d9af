// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/json_facts.hpp"

#include "core/base/error.hpp"

namespace ttcheck::formats {

std::optional<FactValue> scalar_of(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::boolean:
      return value.boolean();
    case Json::Kind::real:
      return value.number();
    case Json::Kind::string:
      return std::string(value.string());
    case Json::Kind::integer:
      try {
        return value.integer();
      } catch (const Error&) {
        return value.number();
      }
    default:
      return std::nullopt;
  }
}

Fact fact_from(const Json& value, std::string name, FactValue text, FactUse use) {
  Where where = value.where();
  where.object = name;
  return {std::move(name), std::move(text), use, std::move(where)};
}

std::vector<Fact> note_facts(const Json& object, std::string_view prefix) {
  std::vector<Fact> facts;
  for (const auto& [key, value] : object.members()) {
    if (auto text = scalar_of(value)) {
      std::string name = std::string(prefix) + "." + std::string(key);
      facts.push_back(fact_from(value, std::move(name), std::move(*text), FactUse::note));
    }
  }
  return facts;
}

}  // namespace ttcheck::formats
