// SPDX-License-Identifier: Apache-2.0
#pragma once
// Records of one identity: 12 bytes a record beside the table.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/record.hpp"

namespace ttcheck::assemble {

inline constexpr std::uint32_t kNoRecord = 0xffffffff;

/// Chains of record indices, one a group, both in order of appearance.
struct Groups {
  std::vector<std::uint32_t> first;  ///< by group: its first record
  std::vector<std::uint32_t> last;   ///< by group: its last record
  std::vector<std::uint32_t> next;   ///< by record: the next of its group, or kNoRecord

  std::vector<std::uint32_t> members(std::size_t group) const;
};

/// REQUIRES fewer than 2^32 - 1 records.
Groups group_by_identity(std::span<const Record> records);

}  // namespace ttcheck::assemble
