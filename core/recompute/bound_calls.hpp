// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls behind one record of one side, with their operands: what they should have put out, and
// how far rounding may take it.

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/recompute/formula.hpp"
#include "core/recompute/graph.hpp"
#include "core/recompute/operand.hpp"

namespace ttcheck::recompute {

inline constexpr double kNarrowRounding = 3;  ///< c of narrow dtypes, as in core/limits
inline constexpr double kAccumulate = 4;

/// The calls behind one rank's copies of the target, or behind all of it. REQUIRES that the target
/// and the makers' tensors outlive it.
class BoundCalls {
 public:
  BoundCalls(const Tensor& target, std::vector<Maker> makers, std::optional<std::int32_t> rank)
      : target_(target), makers_(std::move(makers)), rank_(rank) {}

  /// False where an op is not known or an operand cannot be read.
  bool bind();

  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<Maker>& makers() const { return makers_; }
  const Operand& dumped() const { return *dumped_; }

  /// One formula for each way in which all calls may have been meant.
  Formulas ways(const std::vector<Call>& calls) const;

  /// The relative error that rounding explains (recompute.hpp).
  double limit(const Formula& formula) const;

 private:
  const Operand* operand(const Tensor* tensor);

  const Tensor& target_;
  std::vector<Maker> makers_;
  std::optional<std::int32_t> rank_;
  std::deque<Operand> operands_;
  std::map<const Tensor*, const Operand*> places_;
  std::optional<Operand> dumped_;
  std::vector<Call> calls_;
  double eps_ = 0, roundings_ = 1;
};

}  // namespace ttcheck::recompute
