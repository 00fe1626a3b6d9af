// SPDX-License-Identifier: Apache-2.0
#pragma once
// How far correct runs were seen to be apart, tensor by tensor: what a limits file is made of.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/limits/limits.hpp"

namespace ttcheck::limits {

/// One comparison of one tensor at one step.
struct Sample {
  double rel = 0;
  double row = 0, outlier = 0;  ///< of a worst row, of a worst element; 0: none
};

/// What several comparisons said of one tensor. Steps, micro-batches and calls are one.
struct SpreadRow {
  Tensor tensor;             ///< the first that was seen: identity, kind, dtype and shape alone
  Sample largest;            ///< each the largest on its own
  std::vector<double> rels;  ///< of all samples, in the order in which they came
};

class Spread {
 public:
  void add(const Tensor& tensor, const Sample& sample);

  const std::vector<SpreadRow>& rows() const { return rows_; }  ///< in the order first seen
  const LimitContext& context() const { return context_; }      ///< of all tensors

  /// An entry a row that is of a trace; names are escaped where a glob gives them a meaning, and
  /// bytes of them that are no text are matched by a wildcard.
  std::vector<LimitEntry> entries() const;

 private:
  LimitContext context_;
  std::vector<SpreadRow> rows_;
  std::unordered_map<Identity, std::size_t, IdentityHash> places_;
};

/// The value below which a part `q` of `values` lies, one of them (nearest rank). REQUIRES some.
double quantile(std::vector<double> values, double q);

/// How often a row's largest error is the limit that the built-in model would set.
double beyond_model(const SpreadRow& row, const LimitContext& context);

}  // namespace ttcheck::limits
