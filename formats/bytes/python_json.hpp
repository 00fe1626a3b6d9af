// SPDX-License-Identifier: Apache-2.0
#pragma once
// JSON as Python writes it: NaN, Infinity and -Infinity are values too.

#include <cstdint>
#include <optional>
#include <string>

#include "core/model/fact.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

class PythonJson {
 public:
  /// Parses `text` as JsonDocument does, non-finite numbers aside; same errors.
  PythonJson(std::string text, const std::string& file, std::uint64_t base = 0,
             Duplicates duplicates = Duplicates::refuse);

  Json root() const { return document_.root(); }

  /// A number, non-finite ones included. Throws Error when the value is something else.
  double number(const Json& value) const;

  /// The value as it was written; for lists, objects and numbers of any length.
  std::string text_of(const Json& value) const;

  /// The value as a fact: booleans, numbers and strings as such; everything else as text.
  FactValue fact_of(const Json& value) const;

 private:
  std::optional<double> non_finite(const Json& value) const;

  std::string text_;  ///< as it came
  std::uint64_t base_;
  JsonDocument document_;
};

}  // namespace ttcheck::formats
