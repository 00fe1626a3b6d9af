// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metrics x limit -> what one pair is.

#include <optional>
#include <string>
#include <vector>

#include "core/model/limit.hpp"
#include "core/model/metrics.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::verdict {

/// The cast under which the pair is equal: "" (bitwise), "widening f32", "rounding bf16",
/// "signed-zero", "nan-payload"; nothing when it is not equal at all.
std::optional<std::string> equal_under(const Tensor& reference, const Tensor& candidate,
                                       const Metrics& metrics);

/// True when pass 1 alone cannot tell noise from divergence under `limit`, because a row or an
/// element may still be beyond it, or because the pair is beyond it and its place is wanted. Of
/// stored states trained apart, only of those that differ otherwise than their siblings.
bool needs_detail(const Tensor& reference, const Metrics& metrics, const Limit& limit,
                  const std::optional<Moved>& moved = {});

/// True when pass 1 calls a pair noise and its limit is the model's: a value that both sides hold
/// alike may have set the norm by which it is noise. Not of gradients, which no mask was added to,
/// and not where no element is beyond the limit by itself.
bool may_hide(const Tensor& reference, const Metrics& metrics, const Limit& limit);

/// True when what such a value leaves is beyond the limit by itself.
bool beyond(const Sentinel& sentinel, const Limit& limit);

/// Sets what decided: `error` of this test, where `allowed` would be right.
void set_test(TensorResult& result, Test test, double error, double allowed);

/// What the second pass found; all of it may be missing.
struct Closer {
  std::optional<Sentinel> sentinel{};
  std::optional<Detail> detail{};
  std::vector<RankError> ranks{};
  std::optional<Moved> moved{};  ///< of a stored state
};

/// A result that says who the pair is, and nothing of it yet.
TensorResult result_of(const Tensor& reference, const Tensor& candidate);

/// The pair's result.
TensorResult judge(const Tensor& reference, const Tensor& candidate, const Metrics& metrics,
                   const Limit& limit, Closer closer);

/// The ranks whose own part is beyond the tensor's limit (without one: unequal).
std::vector<std::int32_t> wrong_ranks(const std::vector<RankError>& ranks, const Limit& limit);

/// The result of a tensor whose lowest rank's value is within the limit while replicas on
/// `differing` ranks are not what they must be: diverged on those beyond the limit, or on all of
/// them where none is. The error is the largest of theirs.
TensorResult as_replica_divergence(const Tensor& reference, const Tensor& candidate,
                                   TensorResult result, const std::vector<std::int32_t>& differing);

/// The result of one that is noise by its own limit, while something else shows that it is wrong:
/// diverged by `error`, where `allowed` would be right; `ranks` may be empty. `test`: which shows
/// it.
TensorResult as_wrong_by_itself(const Tensor& reference, const Tensor& candidate,
                                TensorResult result, Test test, double error, double allowed,
                                const std::vector<std::int32_t>& ranks);

/// True of such a result.
bool wrong_by_itself(const TensorResult& result);

/// True when a part of a tensor shows that the whole is beyond its limit.
bool part_decides(const Metrics& part, const Limit& limit);

}  // namespace ttcheck::verdict
