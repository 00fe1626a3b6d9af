// SPDX-License-Identifier: Apache-2.0
#pragma once
// A result whose limit is that of its op and, beside it, what came in with its inputs by chance.

#include <string_view>

#include "core/model/verdict.hpp"

namespace ttcheck::noise {

/// What comes beside a limit, in its units: relative to the norm of the reference, to the rms norm
/// of its rows, and to its rms.
struct Through {
  double rel = 0, row = 0, outlier = 0;
};

/// Whether the result is within its limit and that; of a result of sums over what it stands in,
/// `places` is false, and rows and elements do not count.
bool is_within(const TensorResult& result, const Through& through, bool places = true);

/// Its limit is both, then; `why` is what its source says more of it, behind the amount.
void widen(TensorResult& result, const Through& through, std::string_view rule,
           std::string_view why);

}  // namespace ttcheck::noise
