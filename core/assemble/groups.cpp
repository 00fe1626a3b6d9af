// SPDX-License-Identifier: Apache-2.0
#include "core/assemble/groups.hpp"

#include "core/base/index_table.hpp"
#include "core/base/require.hpp"

namespace ttcheck::assemble {
std::vector<std::uint32_t> Groups::members(std::size_t group) const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = first[group]; i != kNoRecord; i = next[i]) list.push_back(i);
  return list;
}

Groups group_by_identity(std::span<const Record> records) {
  require(records.size() < kNoRecord, "fewer than 2^32 - 1 records");
  Groups groups;
  groups.next.assign(records.size(), kNoRecord);
  IndexTable table(records.size());  // of groups
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    const Identity& identity = records[i].identity;
    const auto group = table.find_or_add(
        IdentityHash{}(identity), static_cast<std::uint32_t>(groups.first.size()),
        [&](std::uint32_t other) { return records[groups.first[other]].identity == identity; });
    if (!group) {
      groups.first.push_back(i);
      groups.last.push_back(i);
    } else {
      std::uint32_t& last = groups.last[*group];
      groups.next[last] = i;
      last = i;
    }
  }
  return groups;
}

}  // namespace ttcheck::assemble
