// SPDX-License-Identifier: Apache-2.0
#include "core/noise/parameter_place.hpp"

#include <doctest/doctest.h>

#include <memory>

namespace ttcheck::noise {

TEST_CASE("a parameter and its gradients are at one place") {
  CHECK(parameter_place("layers.0.mlp/param.bias") == "layers.0.mlp/bias");
  CHECK(parameter_place("layers.0.mlp/main_grad.bias") == "layers.0.mlp/bias");
  CHECK(parameter_place("Module.head.Linear.forward.0/parameters.weight") ==
        "Module.head.Linear/weight");
  CHECK(parameter_place("Module.head.Linear.parameters_grad.0/weight") ==
        "Module.head.Linear/weight");
}

TEST_CASE("a record that names its parameter is at that one's place, and a weight beside a bias") {
  Tensor record;
  record.identity.name = "ddp/main_grad.3";
  CHECK(parameter_place(record) == "ddp/3");
  auto trace = std::make_shared<TraceRecord>();
  trace->owner = "attn.k.bias";
  record.trace = trace;
  CHECK(parameter_place(record) == "attn.k/bias");
  CHECK(weight_place("attn.k/bias") == "attn.k/weight");
  CHECK_FALSE(weight_place("attn.k/weight"));
}

TEST_CASE("a number that no call is of belongs to the module") {
  CHECK(parameter_place("layers.3/param.bias") == "layers.3/bias");
  CHECK(parameter_place("forward.3/param.bias") == "forward.3/bias");
  CHECK(parameter_place("model.embedding.weight") == "model.embedding.weight");
}

}  // namespace ttcheck::noise
