// SPDX-License-Identifier: Apache-2.0
#include "core/base/interrupted.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("the last signal that was noted") {
  CHECK(interrupted() == 0);
  note_interruption(15);
  CHECK(interrupted() == 15);
  note_interruption(0);
  CHECK(interrupted() == 0);
}

}  // namespace
}  // namespace ttcheck
