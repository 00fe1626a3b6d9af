// SPDX-License-Identifier: Apache-2.0
#pragma once
// A layout at work: names go in, rules come out, and at the end it says which rules met no name and
// which sharded names met no rule. Nothing is guessed.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/finding.hpp"
#include "core/model/layout.hpp"

namespace ttcheck {

class LayoutUse {
 public:
  /// `layout` must outlive it.
  explicit LayoutUse(const Layout& layout);

  /// Returns what ttcheck::global_name does, and remembers which renames matched.
  std::string global_name(std::string_view name, const Coordinates& at);

  /// The first rule whose glob matches, or null; remembers both. `where` is the place of the
  /// array that rank `rank` holds.
  const TensorRule* rule_for(std::string_view global, std::int32_t rank, const Where& where);

  /// Whether no rule matched the name and several ranks hold it: whether it is sharded cannot be
  /// known, so its arrays are to be left out and counted as unreadable. Ask when all ranks are
  /// read.
  bool unplaced(std::string_view global) const;

  /// TT304: an error for each unplaced name, a warning for each rule and rename of the file
  /// (built-in ones have no line) that met no name.
  std::vector<Finding> findings() const;

 private:
  struct Unmatched {
    std::vector<std::int32_t> ranks;
    Where where;
  };

  const Layout& layout_;
  std::vector<bool> tensors_met_, renames_met_;
  std::map<std::string, Unmatched, std::less<>> unmatched_;
  NameMap<const TensorRule*> rules_;  ///< by name: ranks hold the same ones
};

}  // namespace ttcheck
