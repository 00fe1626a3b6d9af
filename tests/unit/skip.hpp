// SPDX-License-Identifier: Apache-2.0
#pragma once
// A test case that cannot be tried on this machine says so.

#include <string_view>

namespace ttcheck::tests {

/// To be called by a test case in place of its checks: prints why; unless something fails, the
/// program ends with 77, which ctest shows as skipped.
void skip_case(std::string_view why);

}  // namespace ttcheck::tests
