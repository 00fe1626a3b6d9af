// SPDX-License-Identifier: Apache-2.0
#pragma once
// What pairing found: pairs with the rule that made each, and leftovers.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/align/rescaling.hpp"
#include "core/model/one_sided.hpp"

namespace ttcheck::align {

/// Indices into the two tensor lists.
struct PairIndex {
  std::size_t reference = 0, candidate = 0;
  std::string rule;                      ///< "same", or the rule that made the names meet
  const Rescaling* rescaling = nullptr;  ///< null: values are the same; owned by the Alignment
};

/// Modules of one side that the other has as one.
struct JoinedModules {
  bool in_reference = false;       ///< the one
  std::string whole;               ///< paths of modules
  std::vector<std::string> parts;  ///< in the order of the op
  std::string op;                  ///< as in a map
};

struct Alignment {
  std::vector<PairIndex> pairs;  ///< in the reference's order
  std::vector<std::size_t> only_reference, only_candidate;
  std::vector<std::pair<std::string, std::int64_t>> excluded_by;  ///< rule, tensors of both sides
  std::vector<OneSided> beside;  ///< of these, what only one side has beside the weights of both
  std::vector<std::pair<std::string, std::int64_t>> sliced_by;  ///< rule, pairs it compares in part
  std::set<std::string> unknown;      ///< numbers (heads, ...) that maps asked for in vain
  std::deque<Rescaling> rescalings;   ///< of the user's maps
  std::vector<JoinedModules> joined;  ///< found in these tensors
  std::set<std::string> unclear;      ///< alone: experts that may lie transposed or not
};

}  // namespace ttcheck::align
