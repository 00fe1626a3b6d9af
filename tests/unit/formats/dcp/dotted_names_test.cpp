// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/dotted_names.hpp"

#include <doctest/doctest.h>

#include <random>
#include <set>
#include <string>
#include <vector>

namespace ttcheck::formats {
namespace {

using Lengths = std::vector<std::size_t>;

TEST_CASE("H10 H11 names that a key begins with, up to a dot or its end") {
  const DottedNames names({"model", "model.layers.1", "model.layers.10", "mode", "model.layers"});
  CHECK(names.lengths_in("model.layers.10.weight") == Lengths{5, 12, 15});
  CHECK(names.lengths_in("model.layers.1") == Lengths{5, 12, 14});
  CHECK(names.lengths_in("model.layersx.1") == Lengths{5});
  CHECK(names.lengths_in("models").empty());
  CHECK(names.lengths_in("").empty());
  CHECK(DottedNames().lengths_in("a.b").empty());
}

TEST_CASE("the empty name is part of every key") {
  const DottedNames names({"", "a"});
  CHECK(names.lengths_in("a.b") == Lengths{0, 1});
  CHECK(names.lengths_in("b") == Lengths{0});
  CHECK(names.lengths_in("") == Lengths{0});
}

TEST_CASE("drawn names and keys, dots in any place, against looking each up") {
  std::mt19937 random(1);
  const auto drawn = [&] {
    std::string text;
    for (auto left = random() % 8; left > 0; --left) text += "ab.."[random() % 4];
    return text;
  };
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::string> kept;
    for (auto left = random() % 12; left > 0; --left) kept.push_back(drawn());
    const std::set<std::string> all(kept.begin(), kept.end());
    const DottedNames names({kept.begin(), kept.end()});
    const std::string key = drawn();
    Lengths expected;
    for (std::size_t length = 0; length <= key.size(); ++length) {
      const bool ends = length == 0 || length == key.size() || key[length] == '.';
      if (ends && all.contains(key.substr(0, length))) expected.push_back(length);
    }
    CAPTURE(key);
    CHECK(names.lengths_in(key) == expected);
  }
}

}  // namespace
}  // namespace ttcheck::formats
