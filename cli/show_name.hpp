// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which tensor is meant: a canonical name, a glob that one name matches, `phase:name` in traces. A
// name that is there as it was typed is meant, whatever else it could be.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/options.hpp"
#include "core/model/identity.hpp"

namespace ttcheck::cli {

/// What was typed.
class WantedTensor {
 public:
  explicit WantedTensor(const Options& options);

  /// The one of `names` that is meant; nothing where none is. Throws Error where a glob matches
  /// several.
  std::optional<std::string> among(const std::vector<std::string>& names) const;

  /// Whether a record of the right name is one that the flags let pass.
  bool admits(const Identity& identity) const;

  /// "no tensor is named X", with what may have been meant.
  Error unknown(const std::vector<std::string>& names, const std::string& where) const;

 private:
  std::string typed_, text_;           ///< whole, and behind a phase
  std::optional<Phase> flag_, phase_;  ///< of the flag, and of either
  std::optional<std::int64_t> microbatch_, call_;
};

}  // namespace ttcheck::cli
