// SPDX-License-Identifier: Apache-2.0
#pragma once
// What this machine is called, and who works on it.

#include <vector>

#include "reports/redact.hpp"

namespace ttcheck::cli {

/// Names of the host and of the user, as the system and the environment have them; those of fewer
/// than three letters would be found in other words.
std::vector<reports::Secret> secrets();

}  // namespace ttcheck::cli
