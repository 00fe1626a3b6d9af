// SPDX-License-Identifier: Apache-2.0
#include "core/base/words.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("one of the words stands anywhere in the name") {
  CHECK(has_any("norm", {"norm"}));
  CHECK(has_any("input_layernorm.weight", {"bias", "norm"}));
  CHECK(has_any("norm.q", {"norm", "bias"}));
  CHECK(has_any("q.norm", {"norm"}));
  CHECK_FALSE(has_any("q.weight", {"norm", "bias"}));
  CHECK_FALSE(has_any("nor.m", {"norm"}));
  CHECK_FALSE(has_any("nor", {"norm"}));
  CHECK_FALSE(has_any("Norm", {"norm"}));
  CHECK_FALSE(has_any("", {"norm"}));
  CHECK_FALSE(has_any("norm", {}));
}

}  // namespace
}  // namespace ttcheck
