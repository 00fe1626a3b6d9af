#pragma once
// Reference x candidate -> pairs and leftovers, by names, with the rule that made each pair.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/model/finding.hpp"
#include "core/model/layout.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::align {

struct AlignOptions {
  std::vector<std::string> include, exclude;   ///< globs over canonical names
  std::vector<MapRule> maps;                   ///< of the user
};

/// Indices into the two tensor lists.
struct PairIndex {
  std::size_t reference, candidate;
  std::string rule;                            ///< "same" or the name of the rule that made them meet
};

struct Alignment {
  std::vector<PairIndex> pairs;                ///< in the reference's order
  std::vector<std::size_t> only_reference, only_candidate;
  std::vector<std::pair<std::string, std::int64_t>> excluded_by;  ///< rule, tensors of both sides
  std::vector<Finding> findings;               ///< TT304 with neighbours and a [[map]] to paste
};

Alignment align(std::vector<Tensor>& reference, std::vector<Tensor>& candidate,
                const AlignOptions& options);

}  // namespace ttcheck::align
