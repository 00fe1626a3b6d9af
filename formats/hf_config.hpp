#pragma once
// What a Hugging Face config.json states about a model, as facts.

#include <vector>

#include "core/model/fact.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// Facts that shape the function under common names (`model.layers` `model.heads` ...), all other
/// scalars as notes named `config.<key>`. `config` is an object.
std::vector<Fact> config_facts(const Json& config);

/// Scalars of any flat object as notes `<prefix>.<key>`.
std::vector<Fact> note_facts(const Json& object, std::string_view prefix);

}  // namespace ttcheck::formats
