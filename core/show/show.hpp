// SPDX-License-Identifier: Apache-2.0
#pragma once
// One tensor: of one run, or of two and judged as a diff judges it.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/diff/options.hpp"
#include "core/model/identity.hpp"
#include "core/model/run.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::show {

/// Which tensor is meant.
struct Wanted {
  /// The one of these names; nothing where none is. Throws Error where several are.
  std::function<std::optional<std::string>(const std::vector<std::string>&)> among;
  std::function<bool(const Identity&)> admits;  ///< whether a record of that name may be it
  /// That none of these names is it, and what may have been meant; where they are.
  std::function<Error(const std::vector<std::string>&, const std::string&)> unknown;
};

/// The newest step that has it, within `steps`; of several records the first. `top`: elements that
/// are listed. Throws Error.
Verdict one(const Run& run, const std::optional<StepRange>& steps, const Wanted& wanted, int top);

/// Shows the tensor of both runs in the first of several steps in which it is beyond its limit,
/// else the first in which it differs, else the newest; of several records of a step likewise. Of
/// checkpoints other tensors are read only where the limit depends on them; of a trace that differs
/// all that a diff reads, up to a bound. Throws Error.
Verdict pair(const Run& reference, const Run& candidate, const Wanted& wanted, int top,
             const diff::DiffOptions& how);

}  // namespace ttcheck::show
