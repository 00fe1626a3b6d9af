// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an answer about two runs begins with.

#include "core/model/run.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// A verdict that knows the two runs, and nothing else yet.
Verdict head_of(const Run& reference, const Run& candidate);

}  // namespace ttcheck::diff
