// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of a distributed checkpoint's table: objects by their class, and extents.

#include <optional>
#include <string_view>

#include "core/model/box.hpp"
#include "formats/bytes/pickle.hpp"

namespace ttcheck::formats {

/// True when the value is an object whose class has that name, in whatever module.
bool is_class(Value value, std::string_view name);

/// A torch.Size, tuple or list of natural numbers; false for anything else. `out` keeps its memory.
bool read_extents(Value value, Extents& out);

std::optional<Extents> extents_of(Value value);

}  // namespace ttcheck::formats
