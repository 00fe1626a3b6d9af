#pragma once
// What differs since updates whose gradient was noise, carried from step to step.

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/compare/unsettled.hpp"

namespace ttcheck::cli {

/// What both sides hold, told from sums or statistics: other values have others.
using Print = std::array<double, 6>;

struct Carried {
  std::map<std::string, compare::SetApart> elements;  ///< of parameters, by name
  std::vector<Print> prints;                          ///< of what an optimizer's calls left

  bool empty() const { return elements.empty() && prints.empty(); }
};

}  // namespace ttcheck::cli
