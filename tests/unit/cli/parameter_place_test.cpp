#include "cli/parameter_place.hpp"

#include <doctest/doctest.h>

namespace ttcheck::cli {

TEST_CASE("a parameter and its gradients are at one place") {
  CHECK(parameter_place("layers.0.mlp/param.bias") == "layers.0.mlp/bias");
  CHECK(parameter_place("layers.0.mlp/main_grad.bias") == "layers.0.mlp/bias");
  CHECK(parameter_place("Module.head.Linear.forward.0/parameters.weight") ==
        "Module.head.Linear/weight");
  CHECK(parameter_place("Module.head.Linear.parameters_grad.0/weight") ==
        "Module.head.Linear/weight");
}

TEST_CASE("a number that no call is of belongs to the module") {
  CHECK(parameter_place("layers.3/param.bias") == "layers.3/bias");
  CHECK(parameter_place("forward.3/param.bias") == "forward.3/bias");
  CHECK(parameter_place("model.embedding.weight") == "model.embedding.weight");
}

}  // namespace ttcheck::cli
