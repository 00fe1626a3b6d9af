// SPDX-License-Identifier: Apache-2.0
#pragma once
// What hypotheses are tried on, and what they give back.

#include <algorithm>
#include <string>
#include <vector>

#include "core/compare/pair.hpp"
#include "core/model/finding.hpp"
#include "core/model/layout.hpp"
#include "core/model/mesh.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::explain {

/// Another tensor of the runs, of the same shape, that the error may be made of.
struct Known {
  const Tensor* tensor = nullptr;
  std::string words;      ///< how a report names it: "forward embedding/output.0"
  bool earlier = false;   ///< the same parameter as it stood before
  bool same_side = true;  ///< the candidate's
};

/// A pair beyond its limit. What it points to outlives it.
struct Subject {
  compare::Pair pair;
  const TensorResult* result = nullptr;
  const Mesh* mesh = nullptr;         ///< the candidate's
  const Numbers* numbers = nullptr;   ///< `heads`, `head_dim`, ... of either side
  std::vector<Known> known;           ///< the likeliest first
  std::vector<const Tensor*> beside;  ///< the candidate's of the same module
  double noise = 0;                   ///< relative error that a right explanation may leave

  const Metrics& metrics() const { return result->metrics; }
  /// What a hypothesis about the whole may leave, relative to the reference.
  double allowed() const { return std::max(noise, metrics().rel() / 30); }
};

/// One hypothesis that fits.
struct Explanation {
  Code code = Code::diverged;
  Hypothesis hypothesis;  ///< its weight is not set yet
  double penalty = 1;     ///< grows with what the hypothesis was free to choose
  std::string words;  ///< the end of a finding's message: "the candidate is 0.5 x the reference"
};

}  // namespace ttcheck::explain
