// SPDX-License-Identifier: Apache-2.0
#include "formats/own/answer_fields.hpp"

#include <fmt/format.h>

#include <limits>

#include "core/base/utf8.hpp"

namespace ttcheck::formats {

Json AnswerFields::at(std::string_view key) const {
  const auto value = json_.find(key);
  if (!value) json_.fail(fmt::format("{} has no {}", object_, key));
  return *value;
}

std::optional<Json> AnswerFields::given(std::string_view key) const {
  const auto value = json_.find(key);
  return value && !value->is(Json::Kind::null) ? value : std::nullopt;
}

std::int64_t AnswerFields::count(std::string_view key) const {
  const Json value = at(key);
  const std::int64_t count = value.integer();
  if (count < 0) value.fail(fmt::format("{} is below 0", key));
  return count;
}

double answer_number(const Json& value) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!value.is(Json::Kind::string)) return value.number();
  const std::string_view word = value.string();
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (word == "inf") return kInfinite;
  if (word == "-inf") return -kInfinite;
  value.fail("expected a number, nan, inf or -inf", word);
}

std::string answer_text(const Json& value) { return bytes_of_utf8(value.string()); }

double AnswerFields::number(std::string_view key) const { return answer_number(at(key)); }

std::string AnswerFields::text(std::string_view key) const {
  const Json value = at(key);
  return value.is(Json::Kind::null) ? "" : answer_text(value);
}

Phase AnswerFields::phase(std::string_view key) const {
  return static_cast<Phase>(word(key, kPhases));
}

std::int32_t AnswerFields::small(std::string_view key) const {
  const Json value = at(key);
  const std::int64_t number = value.integer();
  if (number < 0 || number > std::numeric_limits<std::int32_t>::max()) {
    value.fail(fmt::format("{} is out of range", key));
  }
  return static_cast<std::int32_t>(number);
}

std::optional<std::int64_t> AnswerFields::maybe_integer(std::string_view key) const {
  const auto value = given(key);
  return value ? std::optional(value->integer()) : std::nullopt;
}

std::optional<double> AnswerFields::maybe_number(std::string_view key) const {
  const auto value = given(key);
  return value ? std::optional(answer_number(*value)) : std::nullopt;
}

std::vector<std::int64_t> AnswerFields::integers(std::string_view key) const {
  std::vector<std::int64_t> list;
  for (const Json& item : at(key).items()) list.push_back(item.integer());
  return list;
}

Extents AnswerFields::extents(std::string_view key) const {
  const std::vector<std::int64_t> list = integers(key);
  return Extents(list.begin(), list.end());
}

std::vector<std::int32_t> AnswerFields::ranks(std::string_view key) const {
  std::vector<std::int32_t> list;
  for (const Json& item : at(key).items()) {
    const std::int64_t rank = item.integer();
    if (rank < 0 || rank > std::numeric_limits<std::int32_t>::max()) item.fail("no rank");
    list.push_back(static_cast<std::int32_t>(rank));
  }
  return list;
}

std::vector<std::string> AnswerFields::texts(std::string_view key) const {
  std::vector<std::string> list;
  for (const Json& item : at(key).items()) list.push_back(answer_text(item));
  return list;
}

std::map<std::string, std::int64_t> AnswerFields::counts(std::string_view key) const {
  std::map<std::string, std::int64_t> by;
  for (const JsonMember& member : at(key).members()) {
    by.emplace(bytes_of_utf8(member.first), member.second.integer());
  }
  return by;
}

}  // namespace ttcheck::formats
