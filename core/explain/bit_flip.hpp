// SPDX-License-Identifier: Apache-2.0
#pragma once
// Are the only wrong elements wrong by one bit each?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// At most 8 wrong elements, each of which is right once one bit of its stored form is turned back,
/// also of those that became NaN or infinite. Several signs alone are a negation and no flips,
/// lowest bits alone may be rounding, and a single number proves none. Where other elements differ
/// by noise the bit must matter much more than that. Throws Error.
std::optional<Explanation> bit_flip(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
