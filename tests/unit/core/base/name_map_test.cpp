// SPDX-License-Identifier: Apache-2.0
#include "core/base/name_map.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace ttcheck {
namespace {

constexpr std::uint64_t kMul = 0xc6a4a7935bd1e995;  ///< of MurmurHash64A, as in libstdc++

/// What a block of 8 bytes becomes before it is added to the hash, and back.
std::uint64_t mixed(std::uint64_t block) {
  block *= kMul;
  return (block ^ (block >> 47)) * kMul;
}

std::uint64_t unmixed(std::uint64_t value) {
  std::uint64_t inverse = kMul;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kMul * inverse;  // Newton, modulo 2^64
  value *= inverse;
  return (value ^ (value >> 47)) * inverse;
}

/// The blocks whose mixed values differ in the top bit alone: two such steps cancel.
std::string block(std::uint64_t number, bool turned) {
  const std::uint64_t bits = turned ? unmixed(mixed(number) ^ (std::uint64_t{1} << 63)) : number;
  std::string text(sizeof bits, '\0');
  std::memcpy(text.data(), &bits, sizeof bits);
  return text;
}

std::vector<std::string> names_of_one_hash(unsigned pairs) {
  std::vector<std::string> names;
  for (unsigned choice = 0; choice < (1U << pairs); ++choice) {
    std::string& name = names.emplace_back();
    for (unsigned i = 0; i < pairs; ++i) {
      const bool turned = ((choice >> i) & 1U) != 0;
      name += block(2 * i + 1, turned) + block(2 * i + 2, turned);
    }
  }
  return names;
}

TEST_CASE("JL12: names that the standard library's hash puts together are told apart") {
  const auto names = names_of_one_hash(10);
  std::set<std::size_t> standard, ours;
  for (const std::string& name : names) {
    standard.insert(std::hash<std::string>{}(name));
    ours.insert(NameHash{}(name));
  }
#ifdef __GLIBCXX__
  CHECK(standard.size() == 1);
#endif
  CHECK(ours.size() == names.size());
}

TEST_CASE("a name is found by any form of its text") {
  NameMap<int> table;
  table["layers.0"] = 3;
  CHECK(table.find(std::string_view("layers.0/x").substr(0, 8))->second == 3);
  CHECK(table.find("layers.1") == table.end());
}

}  // namespace
}  // namespace ttcheck
