// SPDX-License-Identifier: Apache-2.0
#pragma once
// [[rename]] rules on a name.

#include <string>
#include <string_view>

#include "core/model/layout.hpp"

namespace ttcheck {

/// Renames `name` when the rule matches; says whether it did. Throws Error that names the rule's
/// line when an expression has no value.
bool rename(const Layout& layout, const RenameRule& rule, const Coordinates& at, std::string& name);

/// The global name of a rank's tensor: every rename that matches is applied, in order. Expressions
/// may use captures, coordinates, [model] numbers, first_layer(pp,vpp) and experts_per_rank. Throws
/// Error that names the rule's line when an expression has no value. Whoever places a whole run
/// goes through core/model/layout_use.hpp, which says what matched nothing.
std::string global_name(const Layout& layout, std::string_view name, const Coordinates& at);

/// Checks the syntax of a rule, and that its match has the wildcards that `to` fills in. Throws
/// Error, where it can a LineError at the place in `to`.
void check_rename(const RenameRule& rule);

}  // namespace ttcheck
