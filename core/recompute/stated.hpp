// SPDX-License-Identifier: Apache-2.0
#pragma once
// What two calls of one op state of themselves.

#include <string>

#include "core/model/record.hpp"

namespace ttcheck::recompute {

/// An attribute that both records state, differently, in words: "eps 0.3, the reference 1e-05".
/// The first of them; empty: none.
std::string stated_otherwise(const TraceRecord& reference, const TraceRecord& candidate);

}  // namespace ttcheck::recompute
