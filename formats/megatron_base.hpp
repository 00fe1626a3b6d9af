#pragma once
// Megatron's rules as the base of a user's layout (`base = "megatron-legacy"`): what the layout
// itself does not say of names, dims and numbers.

#include "core/model/layout.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Adds the rules behind the layout's own ones, which count first; the renames that number layers
/// and experts in the whole model, where the layout has none; and numbers of `[model]` that it
/// lacks, from the arguments in `file`, a rank's, if it has some. Throws Error for arguments that
/// cannot be read.
void add_megatron_base(Layout& layout, const Source& file);

}  // namespace ttcheck::formats
