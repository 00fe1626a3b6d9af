// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tables by names that come from files. Their hash is keyed anew in each process: the standard
// library's is not, and names can be written that it puts together, all 2^n of them (MurmurHash64A
// has such blocks for any seed). Nothing may depend on the order in which such a table is walked.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace ttcheck {

/// XXH3 keyed with `hash_key()`.
struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept;
};

template <class Value>
using NameMap = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;
using NameSet = std::unordered_set<std::string, NameHash, std::equal_to<>>;

/// The names live elsewhere, and longer.
template <class Value>
using NameViewMap = std::unordered_map<std::string_view, Value, NameHash, std::equal_to<>>;
using NameViewSet = std::unordered_set<std::string_view, NameHash, std::equal_to<>>;

}  // namespace ttcheck
