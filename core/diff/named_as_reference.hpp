// SPDX-License-Identifier: Apache-2.0
#pragma once
// What went into an op, by the names that results have: the reference's.

#include <unordered_map>

#include "core/diff/met.hpp"
#include "core/recompute/recomputed.hpp"

namespace ttcheck::diff {

/// Recomputing names inputs as the candidate does (`Recomputed::inputs`), whose counters may have
/// moved. Each that is a record of this step gets the name of the reference's record that it met,
/// or none, which no result has; others, parameters of earlier steps, keep theirs.
class ReferenceNames {
 public:
  explicit ReferenceNames(const MetStep& met);

  void give(recompute::Recomputed& recomputed) const;

 private:
  std::unordered_map<Identity, Identity, IdentityHash> names_;  ///< empty: all are the same
};

}  // namespace ttcheck::diff
