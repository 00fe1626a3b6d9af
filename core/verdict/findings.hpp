// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results that are wrong, as findings.

#include <string>
#include <vector>

#include "core/model/mesh.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// TT601 of a diverged result, or the stronger code that fits: TT602 where NaN or Inf disagree.
Finding divergence_finding(const TensorResult& result, const Mesh& candidate_mesh);

/// TT101: replicas of the tensor that differ on `ranks` from the lowest rank's. TT103 where these
/// are copies on other pipeline stages.
Finding replica_finding(const Tensor& tensor, std::optional<std::int64_t> step,
                        std::vector<std::int32_t> ranks, const Mesh& mesh, std::string_view side);

/// A note of this code.
Finding note(Code code, std::optional<std::int64_t> step, std::string message);

/// TT305 / TT306 for a tensor that only one side has.
Finding leftover_finding(const Tensor& tensor, std::optional<std::int64_t> step, Code code,
                         Severity severity);

/// TT307 for a pair whose shapes differ.
Finding shape_finding(const Tensor& reference, const Tensor& candidate,
                      std::optional<std::int64_t> step);

/// TT508 as a note: pairs, these the first of `count`, that cannot be compared, since ranks are
/// missing and nothing states how large the tensors are.
Finding guess_finding(const Tensor& reference, const Tensor& candidate,
                      std::optional<std::int64_t> step, std::int64_t count);

/// `[64, 128]`.
std::string to_string(const Shape& shape);

/// True where replicas must agree bitwise: checkpoints, and the phases in which a trace records
/// state.
bool replicas_are_strict(Phase phase);

/// Whether a finding of a divergence says why, and not only how far, where, or what is left.
bool names_cause(const Finding& finding);

}  // namespace ttcheck::verdict
