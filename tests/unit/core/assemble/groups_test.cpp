// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/groups.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

namespace ttcheck::assemble {
namespace {

using Indices = std::vector<std::uint32_t>;

TEST_CASE("records of one identity are one group, in order of appearance") {
  struct Row {
    std::string what;
    std::vector<Identity> identities;
    std::vector<Indices> groups;
  };
  const std::vector<Row> rows = {
      {"none", {}, {}},
      {"one", {{"a"}}, {{0}}},
      {"all apart", {{"b"}, {"a"}, {"c"}}, {{0}, {1}, {2}}},
      {"all the same", {{"a"}, {"a"}, {"a"}}, {{0, 1, 2}}},
      {"among each other", {{"b"}, {"a"}, {"b"}, {""}, {"a"}, {"b"}}, {{0, 2, 5}, {1, 4}, {3}}},
      {"a name in two phases", {{"a"}, {"a", Phase::forward}}, {{0}, {1}}},
      {"two micro-batches", {{"a", Phase::loss, 0}, {"a", Phase::loss, 1}}, {{0}, {1}}},
      {"two calls", {{"a", Phase::loss, 0, 0}, {"a", Phase::loss, 0, 1}}, {{0}, {1}}},
      {"the same call", {{"a", Phase::loss, 2, 1}, {"a", Phase::loss, 2, 1}}, {{0, 1}}},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::vector<Record> records(row.identities.size());
    for (std::size_t i = 0; i < records.size(); ++i) records[i].identity = row.identities[i];
    const Groups groups = group_by_identity(records);
    REQUIRE(groups.first.size() == row.groups.size());
    REQUIRE(groups.last.size() == row.groups.size());
    CHECK(groups.next.size() == records.size());
    for (std::size_t g = 0; g < row.groups.size(); ++g) {
      CHECK(groups.members(g) == row.groups[g]);
      CHECK(groups.first[g] == row.groups[g].front());
      CHECK(groups.last[g] == row.groups[g].back());
    }
  }
}

}  // namespace
}  // namespace ttcheck::assemble
