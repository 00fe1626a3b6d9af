// SPDX-License-Identifier: Apache-2.0
#include "core/base/index_table.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

namespace ttcheck {
namespace {

/// Adds each word; gives what the table said of each.
template <class Hash>
std::vector<std::optional<std::uint32_t>> add_all(const std::vector<std::string>& words,
                                                  const Hash& hash, std::size_t expected) {
  IndexTable table(expected);
  std::vector<std::optional<std::uint32_t>> said;
  for (std::uint32_t i = 0; i < words.size(); ++i) {
    said.push_back(table.find_or_add(
        hash(words[i]), i, [&](std::uint32_t other) { return words[other] == words[i]; }));
  }
  return said;
}

TEST_CASE("the first of equal items is found, also after the table grew") {
  std::vector<std::string> words;
  for (int i = 0; i < 5000; ++i) words.push_back(std::to_string(i));
  for (int i = 0; i < 5000; ++i) words.push_back(std::to_string(i));
  for (const std::size_t expected : {0U, 100U, 20000U}) {
    const auto said = add_all(words, std::hash<std::string>{}, expected);
    for (std::uint32_t i = 0; i < 5000; ++i) {
      CHECK_FALSE(said[i]);
      CHECK(said[5000 + i] == i);
    }
  }
}

TEST_CASE("items of one hash are told apart") {
  const auto said = add_all({"a", "b", "c", "b", "a", "d"}, [](const auto&) { return 7U; }, 0);
  CHECK_FALSE(said[2]);
  CHECK(said[3] == 1U);
  CHECK(said[4] == 0U);
  CHECK_FALSE(said[5]);
}

}  // namespace
}  // namespace ttcheck
