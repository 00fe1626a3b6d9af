// SPDX-License-Identifier: Apache-2.0
#include "core/limits/siblings.hpp"

#include <doctest/doctest.h>

namespace ttcheck::limits {

TEST_CASE("siblings differ in numbers alone") {
  CHECK(siblings_of("layers.7.mlp.experts.64.weight") == "layers.#.mlp.experts.#.weight");
  CHECK(siblings_of("h.0.ln1.weight") == "h.#.ln1.weight");
  CHECK(siblings_of("weight") == "weight");
  CHECK(siblings_of("0") == "#");
  CHECK(siblings_of("") == "");
}

TEST_CASE("biases, and what an optimizer keeps of them") {
  CHECK(is_of_bias("layers.0.k.bias"));
  CHECK(is_of_bias("layers.0.k.bias@exp_avg"));
  CHECK(!is_of_bias("layers.0.k.weight@exp_avg"));
}

}  // namespace ttcheck::limits
