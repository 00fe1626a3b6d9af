// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the steps of two traces leave for those behind them, as far as chance goes.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/compare/unsettled.hpp"
#include "core/limits/limits.hpp"
#include "core/model/earlier.hpp"

namespace ttcheck::noise {

/// What both sides hold, told from sums or statistics: other values have others.
using Print = std::array<double, 6>;

/// What updates that are multiples of the gradient may have made of one parameter, and what its
/// gradients differed by, the most of all steps; norms, and largest elements.
struct Multiples {
  struct Amount {
    double norm = 0, most = 0;
  };

  Amount before, apart;  ///< ahead of the step that was last looked at, and behind it
  Amount slope;
  std::optional<std::int64_t> step;  ///< that step
  bool known = true;                 ///< none of its gradients diverged
};

struct Carried {
  std::map<std::string, Multiples> multiples;         ///< of parameters, by place
  std::map<std::string, compare::SetApart> elements;  ///< of parameters, by name
  std::vector<Print> prints;                          ///< of what an optimizer's calls left
  limits::Apart apart;                                ///< how far parameters are
  std::array<Parameters, 2> parameters{};             ///< of both sides, and their gradients
  bool whole = false;  ///< all steps before were looked at for it, though none of them was reported

  /// Whether updates whose gradient was noise left anything.
  bool by_chance() const { return !elements.empty() || !prints.empty(); }
};

}  // namespace ttcheck::noise
