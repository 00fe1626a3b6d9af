// SPDX-License-Identifier: Apache-2.0
#include "core/base/wider_glob.hpp"

#include <doctest/doctest.h>

namespace ttcheck {
namespace {

TEST_CASE("each lone star crosses dots") {
  CHECK(wider_glob("*mlp*") == "**mlp**");
  CHECK(wider_glob("layers.0.*") == "layers.0.**");
  CHECK(wider_glob("**.a.*") == "**.a.**");
  CHECK(wider_glob("**.a").empty());
  CHECK(wider_glob("a").empty());
  CHECK(wider_glob("a\\*").empty());
  CHECK(wider_words("**a") == "; a * stays within one part between dots, ** does not: '**a'");
}

}  // namespace
}  // namespace ttcheck
