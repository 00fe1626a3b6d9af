// SPDX-License-Identifier: Apache-2.0
#include "formats/hf/canonical_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/model/fact.hpp"

namespace ttcheck::formats {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53: whole numbers below are what was written

void add_quoted(std::string_view text, std::string& out) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

std::string number_text(const Json& value) {
  const double number = value.number();
  if (std::abs(number) < kExact && number == std::trunc(number)) {
    return fmt::format("{}", static_cast<std::int64_t>(number));
  }
  if (value.is(Json::Kind::real)) return to_string(FactValue(number));
  try {
    return fmt::format("{}", value.integer());
  } catch (const Error&) {  // beyond 64 bits with sign
    return fmt::format("{}", value.natural());
  }
}

// Recursion is at most kMaxJsonDepth deep.
void add(const Json& value, std::string& out) {
  switch (value.kind()) {
    case Json::Kind::null:
      out += "null";
      return;
    case Json::Kind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Json::Kind::string:
      return add_quoted(value.string(), out);
    case Json::Kind::array: {
      out += '[';
      bool first = true;
      for (const Json& item : value.items()) {
        if (!std::exchange(first, false)) out += ',';
        add(item, out);
      }
      out += ']';
      return;
    }
    case Json::Kind::object: {
      std::vector<JsonMember> members;
      for (const JsonMember& member : value.members()) members.push_back(member);
      std::ranges::stable_sort(members, {}, &JsonMember::first);
      out += '{';
      bool first = true;
      for (const auto& [key, held] : members) {
        if (!std::exchange(first, false)) out += ',';
        add_quoted(key, out);
        out += ':';
        add(held, out);
      }
      out += '}';
      return;
    }
    default:
      out += number_text(value);
  }
}

}  // namespace

std::string canonical_text(const Json& value) {
  std::string text;
  add(value, text);
  return text;
}

}  // namespace ttcheck::formats
