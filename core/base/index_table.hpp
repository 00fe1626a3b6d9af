// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds equal items of a list by their hashes: open addressing, 8 bytes a slot, no node per item.
// Hashes are stirred with a key that is drawn once per process, so that names in a file cannot be
// chosen to crowd one part of the table; what is found does not depend on it.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/require.hpp"

namespace ttcheck {

/// Random, odd, the same as long as the process lives.
std::uint64_t hash_key();

/// Holds indices of the caller's items, which it never sees. REQUIRES indices below 2^32 - 1.
class IndexTable {
 public:
  /// Makes room for so many items at once; more are welcome.
  explicit IndexTable(std::size_t expected = 0)
      : slots_(std::bit_ceil(expected * 2 + kFewest)), mask_(slots_.size() - 1) {}

  /// The index of an equal item that was added before; else nothing, and `index` is added.
  /// `equal(other)` says whether the item at index `other` equals this one.
  template <class Equal>
  std::optional<std::uint32_t> find_or_add(std::size_t hash, std::uint32_t index,
                                           const Equal& equal) {
    require(index != kNone, "an index below 2^32 - 1");
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const std::uint32_t word = stirred(hash);
    Slot& slot = slots_[slot_of(word, equal)];
    if (slot.index != kNone) return slot.index;
    slot = {word, index};
    ++used_;
    return std::nullopt;
  }

  /// The index of an equal item that was added before.
  template <class Equal>
  std::optional<std::uint32_t> find(std::size_t hash, const Equal& equal) const {
    const Slot& slot = slots_[slot_of(stirred(hash), equal)];
    return slot.index == kNone ? std::nullopt : std::optional(slot.index);
  }

 private:
  static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr std::size_t kFewest = 16;
  struct Slot {
    std::uint32_t hash = 0;
    std::uint32_t index = kNone;
  };

  std::uint32_t stirred(std::size_t hash) const {
    return static_cast<std::uint32_t>(((hash ^ (hash >> 32)) * key_) >> 32);
  }

  /// The slot that holds an equal item, or the free one where it belongs.
  template <class Equal>
  std::size_t slot_of(std::uint32_t word, const Equal& equal) const {
    std::size_t at = word & mask_;
    while (slots_[at].index != kNone && !(slots_[at].hash == word && equal(slots_[at].index))) {
      at = (at + 1) & mask_;
    }
    return at;
  }

  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    mask_ = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.index == kNone) continue;
      std::size_t at = slot.hash & mask_;
      while (slots_[at].index != kNone) at = (at + 1) & mask_;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t mask_;
  std::uint64_t key_ = hash_key();
  std::size_t used_ = 0;
};

}  // namespace ttcheck
