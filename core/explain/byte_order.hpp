// SPDX-License-Identifier: Apache-2.0
#pragma once
// TT308: the candidate's bytes are the reference's in the other order.

#include <optional>

#include "core/explain/subject.hpp"
#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// Holds where every number of the candidate that is not NaN is the reference's once its bytes are
/// turned about; of NaN, which may come of the turning, a few are let pass. Reads the pair. Nothing
/// for types of one byte and for 64-bit integers, which doubles do not hold. Throws Error.
std::optional<Explanation> byte_order(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
