#pragma once
// One attribute of a pickled object, whatever way its class keeps them: in a dict, in slots, or as
// what it was constructed from.

#include <string_view>

#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// The object's attribute of that name, as BUILD gave it; empty when it has none.
Value attribute(Value object, std::string_view name);

/// The same, or else the `position`-th argument that the object was constructed from.
Value attribute_or_argument(Value object, std::string_view name, std::size_t position);

}  // namespace ttcheck::formats
