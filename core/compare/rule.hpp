// SPDX-License-Identifier: Apache-2.0
#pragma once
// What stays the same over a pair while it is measured.

#include <optional>

#include "core/compare/kernel.hpp"
#include "core/model/dtype.hpp"

namespace ttcheck::compare {

struct Rule {
  DType a = DType::f32, b = DType::f32;   ///< dtypes of reference and candidate
  double close_rtol = 0, close_atol = 0;  ///< of beyond_close
  std::optional<double> rtol, atol;       ///< of max_quotient; neither: none
  bool wide = false;                      ///< fp64 throughout
  const Kernels* isa = &kernels();        ///< which gives the same bits as any other
};

/// The defaults of torch.testing.assert_close for that pair, the looser of the two dtypes.
Rule rule_for(DType a, DType b, bool exact_sums);

}  // namespace ttcheck::compare
