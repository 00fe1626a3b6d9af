// SPDX-License-Identifier: Apache-2.0
// JsonDocument is strict, so each bare word for a non-finite number is first rewritten, in place
// and at its own length, as a string that starts with DEL: offsets stay what they were.

#include "formats/bytes/python_json.hpp"

#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr char kMark = '\x7f';
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Word {
  std::string_view spelling;
  double value;
};
constexpr std::array<Word, 3> kWords = {{{"NaN", std::numeric_limits<double>::quiet_NaN()},
                                         {"Infinity", kInfinity},
                                         {"-Infinity", -kInfinity}}};

/// Index of the closing quote of the string that opens at `open`; the end when there is none.
std::size_t string_end(std::string_view text, std::size_t open) {
  std::size_t at = open + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
  return std::min(at, text.size());
}

std::string strict(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') at = string_end(text, at);
    for (const Word& word : kWords) {
      if (std::string_view(text).substr(at, word.spelling.size()) != word.spelling) continue;
      const std::size_t last = at + word.spelling.size() - 1;
      text[at] = '"';
      text[at + 1] = kMark;
      text[last] = '"';
      at = last;
      break;
    }
  }
  return text;
}

}  // namespace

PythonJson::PythonJson(std::string text, const std::string& file, std::uint64_t base,
                       Duplicates duplicates)
    : text_(std::move(text)), base_(base), document_(strict(text_), file, base, duplicates) {}

std::optional<double> PythonJson::non_finite(const Json& value) const {
  if (!value.is(Json::Kind::string) || !value.string().starts_with(kMark)) return std::nullopt;
  const std::string_view here =
      std::string_view(text_).substr(static_cast<std::size_t>(value.offset() - base_));
  for (const Word& word : kWords) {
    if (here.starts_with(word.spelling)) return word.value;
  }
  return std::nullopt;
}

double PythonJson::number(const Json& value) const {
  const auto special = non_finite(value);
  return special ? *special : value.number();
}

std::string PythonJson::text_of(const Json& value) const {
  const std::string_view text = text_;
  const auto begin = static_cast<std::size_t>(value.offset() - base_);
  std::size_t at = begin, depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') at = string_end(text, at);
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}' || c == ',') && depth == 0) break;
    if (c == ']' || c == '}') --depth;
    ++at;
    if (depth == 0 && (c == '"' || c == ']' || c == '}')) break;
  }
  std::string_view found = text.substr(begin, at - begin);
  while (!found.empty() && (found.back() == ' ' || found.back() == '\n' || found.back() == '\t' ||
                            found.back() == '\r')) {
    found.remove_suffix(1);
  }
  return std::string(found);
}

FactValue PythonJson::fact_of(const Json& value) const {
  if (const auto special = non_finite(value)) return *special;
  switch (value.kind()) {
    case Json::Kind::boolean:
      return value.boolean();
    case Json::Kind::string:
      return std::string(value.string());
    case Json::Kind::real:
      return value.number();
    case Json::Kind::integer:
      try {
        return value.integer();
      } catch (const Error&) {
        return text_of(value);  // beyond 64 bits with sign
      }
    default:
      return text_of(value);
  }
}

}  // namespace ttcheck::formats
