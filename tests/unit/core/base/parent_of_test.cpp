// SPDX-License-Identifier: Apache-2.0
#include "core/base/parent_of.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("the parent of a module is what stands in front of its last dot") {
  CHECK(parent_of("layers.0.attn.k") == "layers.0.attn");
  CHECK(parent_of("layers") == "layers");
  CHECK(parent_of("").empty());
}

}  // namespace
}  // namespace ttcheck
