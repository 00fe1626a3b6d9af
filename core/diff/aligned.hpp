// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors of one step whose names have met, and what did not.

#include <optional>
#include <span>

#include "core/align/align.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::diff {

struct Aligned {
  std::span<const Tensor> reference, candidate;
  const align::Alignment& alignment;
  std::optional<std::int64_t> step;
  bool trace = false;  ///< both are traces: what one side lacks may be a warning
  std::span<const Identity> free_reference, free_candidate;  ///< rep=any: in no tensor list
  /// Files or ranks of that side are not there or cannot be read: what it lacks may be in them.
  bool reference_partial = false, candidate_partial = false;
  bool tied = false;  ///< a side states that embeddings are
};

}  // namespace ttcheck::diff
