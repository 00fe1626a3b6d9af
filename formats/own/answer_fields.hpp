// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of an object of a kept answer, as the types that a Verdict has.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/box.hpp"
#include "core/model/identity.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// Each throws Error with file and offset where a member is missing or something else; names and
/// texts come back as the bytes that they were before they were made valid UTF-8.
class AnswerFields {
 public:
  /// `object` names it in messages.
  AnswerFields(const Json& json, std::string_view object) : json_(json), object_(object) {}

  Json at(std::string_view key) const;
  std::optional<Json> given(std::string_view key) const;  ///< nothing where it is null or missing

  std::int64_t integer(std::string_view key) const { return at(key).integer(); }
  std::uint64_t natural(std::string_view key) const { return at(key).natural(); }
  std::int64_t count(std::string_view key) const;  ///< not below 0
  bool boolean(std::string_view key) const { return at(key).boolean(); }
  double number(std::string_view key) const;     ///< "nan" "inf" "-inf" are some
  std::string text(std::string_view key) const;  ///< of null: empty
  Phase phase(std::string_view key) const;       ///< of null: none
  std::int32_t small(std::string_view key) const;

  std::optional<std::int64_t> maybe_integer(std::string_view key) const;
  std::optional<double> maybe_number(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  Extents extents(std::string_view key) const;
  std::vector<std::int32_t> ranks(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  std::map<std::string, std::int64_t> counts(std::string_view key) const;

  /// The place of a word in a table of them.
  template <std::size_t kCount>
  std::size_t word(std::string_view key, const std::array<std::string_view, kCount>& table) const {
    const Json value = at(key);
    const std::string_view said = value.is(Json::Kind::null) ? "" : value.string();
    for (std::size_t i = 0; i < kCount; ++i) {
      if (table[i] == said) return i;
    }
    value.fail("an unknown word", said);
  }

 private:
  Json json_;
  std::string_view object_;
};

/// A number, or the word for one that JSON has not.
double answer_number(const Json& value);
/// The text of which `value` was made.
std::string answer_text(const Json& value);

}  // namespace ttcheck::formats
