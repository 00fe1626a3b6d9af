#pragma once
// The built-in limit model: how far two correct runs of one model may be apart when nothing was
// measured. ttcheck-limits.7 tells it to users.

#include "core/limits/limits.hpp"

namespace ttcheck::limits {

/// The limit of one tensor under the model, with its words.
Limit model_limit(const Tensor& reference, const Context& context);

}  // namespace ttcheck::limits
