// SPDX-License-Identifier: Apache-2.0
#pragma once
// Members of a JSON object as facts.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/fact.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// The value of a number, a truth value or a text; a number that no integer holds is a double. None
/// for objects, lists and null.
std::optional<FactValue> scalar_of(const Json& value);

/// A fact that stands where `value` does.
Fact fact_from(const Json& value, std::string name, FactValue text, FactUse use);

/// Scalars of any flat object as notes `<prefix>.<key>`.
std::vector<Fact> note_facts(const Json& object, std::string_view prefix);

}  // namespace ttcheck::formats
