// SPDX-License-Identifier: Apache-2.0
#pragma once
// What one side has beside the weights that both have: bookkeeping, further copies.

#include <cstdint>
#include <string>

namespace ttcheck {

/// Tensors that only one side has and a rule leaves out, by the rule.
struct OneSided {
  std::string rule;
  std::int64_t reference = 0, candidate = 0;
};

}  // namespace ttcheck
