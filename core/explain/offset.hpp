// SPDX-License-Identifier: Apache-2.0
#pragma once
// Is the candidate the reference plus a constant?

#include <optional>
#include <string>

#include "core/explain/survey.hpp"

namespace ttcheck::explain {

/// "ln(tp)" or "-ln(tp)" where `c` is the logarithm of the size of that mesh axis; or nothing.
std::string logarithm_of(double c, const Subject& subject);

/// candidate = reference + c, c the mean of the differences. Of a single number only where c is
/// the logarithm of the size of a mesh axis, as when a softmax is taken over ranks' copies. Where
/// it is so of the elements that differ alone (a mask leaves the others out), of those.
std::optional<Explanation> offset(const Subject& subject, const Survey& seen);

}  // namespace ttcheck::explain
