#include "core/assemble/groups.hpp"

#include <bit>

namespace ttcheck::assemble {
std::vector<std::uint32_t> Groups::members(std::size_t group) const {
  std::vector<std::uint32_t> list;
  for (std::uint32_t i = first[group]; i != kNone; i = next[i]) list.push_back(i);
  return list;
}

Groups group_by_identity(std::span<const Record> records) {
  Groups groups;
  groups.next.assign(records.size(), kNone);
  std::vector<std::uint32_t> table(std::bit_ceil(records.size() * 2 + 1), kNone);  // of groups
  const std::size_t mask = table.size() - 1;
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    std::size_t slot = IdentityHash{}(records[i].identity) & mask;
    while (table[slot] != kNone &&
           records[groups.first[table[slot]]].identity != records[i].identity) {
      slot = (slot + 1) & mask;
    }
    if (table[slot] == kNone) {
      table[slot] = static_cast<std::uint32_t>(groups.first.size());
      groups.first.push_back(i);
      groups.last.push_back(i);
    } else {
      std::uint32_t& last = groups.last[table[slot]];
      groups.next[last] = i;
      last = i;
    }
  }
  return groups;
}

}  // namespace ttcheck::assemble
