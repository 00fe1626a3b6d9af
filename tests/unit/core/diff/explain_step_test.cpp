// SPDX-License-Identifier: Apache-2.0
#include "core/diff/explain_step.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <random>
#include <string>

#include "tests/support/diffed.hpp"
#include "tests/support/safetensors_text.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::diff {
namespace {

constexpr int kLayers = 150, kWrong = 140, kSize = 64;

/// Two weights of one shape in each layer; `up` of layer 140 is its `down`, should `swapped` be.
std::string layers(bool swapped) {
  std::string header, data;
  for (int layer = 0; layer < kLayers; ++layer) {
    for (const char* const name : {"down", "up"}) {
      const bool down = *name == 'd' || (swapped && layer == kWrong);
      std::mt19937 random(static_cast<unsigned>(2 * layer + (down ? 0 : 1)));
      std::normal_distribution<float> normal;
      header += fmt::format(R"({}"layers.{}.{}.weight":{{"dtype":"F32","shape":[{}],)",
                            header.empty() ? "" : ",", layer, name, kSize);
      header += fmt::format(R"("data_offsets":[{},{}]}})", data.size(), data.size() + 4 * kSize);
      for (int i = 0; i < kSize; ++i) {
        const float value = normal(random);
        char bytes[sizeof value];
        std::memcpy(bytes, &value, sizeof value);
        data.append(bytes, sizeof value);
      }
    }
  }
  return tests::safetensors_of("{" + header + "}", data);
}

TEST_CASE("of more tensors of a shape than one is held against, those near by name come first") {
  const tests::TempDir folder;
  folder.write("a.safetensors", layers(false));
  folder.write("b.safetensors", layers(true));
  const Verdict verdict = tests::diffed(folder.path("a.safetensors"), folder.path("b.safetensors"));
  REQUIRE(verdict.findings.size() == 1);
  CHECK(verdict.findings[0].tensor == "layers.140.up.weight");
  CHECK(verdict.findings[0].message.find("layers.140.down.weight") != std::string::npos);
}

}  // namespace
}  // namespace ttcheck::diff
