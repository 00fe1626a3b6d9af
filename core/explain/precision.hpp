// SPDX-License-Identifier: Apache-2.0
#pragma once
// Do the candidate's values lie on a coarser grid than its dtype has, and the reference's do not?

#include <optional>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// Every value of the candidate is one of f16 or bf16, stored in something wider, or most are sums
/// of a few such values, as ranks' partial results are; and the error is no larger than rounding to
/// that type a few times leaves.
std::optional<Explanation> precision(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
