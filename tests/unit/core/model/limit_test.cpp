// SPDX-License-Identifier: Apache-2.0
#include "core/model/limit.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("a limit is listed by the words of its group, else by its source") {
  Limit limit;
  limit.source = "bf16 model: 8 eps x sqrt(depth 3)";
  CHECK(limit.words() == "bf16 model: 8 eps x sqrt(depth 3)");
  limit.group = "bf16 model";
  CHECK(limit.words() == "bf16 model");
}

}  // namespace
}  // namespace ttcheck
