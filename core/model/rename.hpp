#pragma once
// One [[rename]] rule on one name.

#include <string>
#include <string_view>

#include "core/model/layout.hpp"

namespace ttcheck {

/// Renames `name` when the rule matches; says whether it did. Throws Error that names the rule's
/// line when an expression has no value.
bool rename(const Layout& layout, const RenameRule& rule, const Coordinates& at, std::string& name);

/// Checks the syntax of a rule, and that its match has the wildcards that `to` fills in. Throws
/// Error, where it can a LineError at the place in `to`.
void check_rename(const RenameRule& rule);

}  // namespace ttcheck
