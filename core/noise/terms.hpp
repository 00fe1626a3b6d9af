// SPDX-License-Identifier: Apache-2.0
#pragma once
// Gradients that are zero but for round-off: how large that is. What a bias adds may be seen by
// nothing behind it: of keys in front of a softmax, of a convolution in front of a batch norm. The
// terms of its gradient, one a token, then cancel in each run whatever came from above, and what
// is left of them is the round-off of one op, which is relative to the terms.

#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/verdict.hpp"
#include "core/noise/evidence.hpp"
#include "core/noise/memory.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::noise {

/// Gradients of parameters, and what is made of them.
bool is_slope(Kind kind);

class Terms {
 public:
  /// All must outlive it. `results` are of this step, in any order; there may be none of some
  /// pairs.
  Terms(const StepRecords& step, std::span<const TensorResult> results, const Carried& carried);

  /// What round-off of its terms makes of a bias's gradient or moment, `op` being one op's
  /// (Limit::op); nothing of other records, and where the gradient of the weight beside it is not
  /// known. `slope` is the reference's record, of this step or, as `carried` has it, of an earlier
  /// one.
  ///
  /// The weight's gradient sums the same terms d, each times an input x of the op: as the two have
  /// little to do with each other, rms(dW) = sqrt(sum d^2) rms(x), so that the sum of the terms is
  /// off by op * rms(dW) / rms(x), or by what adding so many up makes, where that is more: by their
  /// number or, where that decides and they were recorded, by their partial sums. A moment
  /// that averages gradients keeps that ratio; one that averages squares has its square, twice.
  std::optional<Magnitude> roundoff(const Tensor& slope, double op) const;

  /// What round-off makes of what is made of the gradient of a bias, for whoever knows `weight`,
  /// what is made of its weight's, and not the op: its inputs are taken as of size 1, as normalised
  /// ones are.
  std::optional<Magnitude> roundoff_beside(const Tensor& weight, double op) const;

  /// The size of a record, as the reference has it; 0 where nothing tells. Of one thread at a time.
  double size_of(const Tensor& record) const;

 private:
  const Tensor* weight_beside(const Tensor& slope, std::string_view weight) const;
  double input_size(const std::string& module, const Tensor& weight) const;
  double output_size(const std::string& module, const Tensor& weight) const;
  double summing(const std::string& module, const Tensor& slope) const;
  double adding_in_turn(const std::string& module, const Tensor& slope, double wanted) const;
  double in_question(const Tensor& slope) const;
  double size_beside(const std::string& module, const Tensor& weight) const;

  const Carried& carried_;
  std::unordered_map<const Tensor*, const Metrics*> measured_;
  mutable std::unordered_map<const Tensor*, double>
      read_;                       ///< sizes of those that are not measured
  mutable NameMap<double> added_;  ///< what adding its terms up makes of a bias's gradient
  NameMap<const Tensor*> slopes_;  ///< of this step, by phase, kind, micro-batch and parameter
  NameMap<const Tensor*> before_;  ///< of earlier steps, by kind and parameter
  NameMap<std::vector<const Tensor*>> inputs_, outputs_;  ///< of forward, by module
  NameMap<std::vector<const Tensor*>> terms_;             ///< of outputs the gradients, by module
  NameMap<const Tensor*> weights_;                        ///< of this step, by place
  NameMap<std::vector<std::string>> parents_;  ///< modules with a bias's gradient, by their parent
};

/// What both sides hold, and how far they are apart.
struct Sizes {
  Magnitude reference, candidate, apart;
};

/// The sizes of a result whose bytes were compared, or that has statistics on both sides; nothing
/// of others.
std::optional<Sizes> sizes_of(const TensorResult& result, const RecordPair& pair);

/// Whether round-off may be all that both sides hold, or all that one is beyond the other.
bool may_be_roundoff(const Sizes& sizes, const Magnitude& roundoff);

}  // namespace ttcheck::noise
