// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a Hugging Face config.json states about a model, and an adapter_config.json about an
// adapter, as facts.

#include <vector>

#include "core/model/fact.hpp"
#include "formats/bytes/json.hpp"

namespace ttcheck::formats {

/// Gives facts that shape the function common names (`model.layers` `model.heads` ...), makes other
/// scalars notes named `config.<key>`. `config` is an object.
std::vector<Fact> config_facts(const Json& config);

/// Names scalars `adapter.<key>`: those that shape the update are compared, others are notes.
std::vector<Fact> adapter_facts(const Json& config);

}  // namespace ttcheck::formats
