// SPDX-License-Identifier: Apache-2.0
#pragma once
// One attribute of a pickled object, whatever way its class keeps them: in a dict, in slots, or as
// what it was constructed from. Many objects may share one state, so that only short ones are
// looked through: a longer one has no attributes here.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// The entry of a state: of a dict, or of either of a pair of dicts. Empty when there is none.
Value state_entry(Value state, std::string_view name);

/// The object's attribute of that name, as BUILD gave it; empty when it has none.
Value attribute(Value object, std::string_view name);

/// The object's attribute of that name, or else the `position`-th argument that it was constructed
/// from; empty when it has neither.
Value attribute_or_argument(Value object, std::string_view name, std::size_t position);

/// `sequence` (formats/objects/known.hpp) of at most `most` items; none for a longer one.
std::optional<std::vector<Value>> short_sequence(Value value, std::size_t most);

}  // namespace ttcheck::formats
