// SPDX-License-Identifier: Apache-2.0
#pragma once
// A short word for why a comparison came to nothing, of errors that have none.

#include "core/base/error.hpp"

namespace ttcheck {

/// What `what` gives. An error that it throws without a reason of its own has this one.
template <class What>
auto for_reason(const char* reason, What&& what) {
  try {
    return what();
  } catch (const Error& error) {
    const bool told = error.reason() != Error("").reason();
    throw told ? error : error.because(reason);
  }
}

}  // namespace ttcheck
