// SPDX-License-Identifier: Apache-2.0
#include "core/diff/compare_all.hpp"

#include "core/base/interrupted.hpp"

namespace ttcheck::diff {

std::vector<compare::Compared> compare_all(std::span<const compare::Pair> pairs,
                                           const DiffOptions& how, bool sample) {
  compare::CompareOptions options;
  options.sample = sample;
  options.exact_sums = how.exact_sums;
  if (how.hooks.pass) options.progress = how.hooks.pass();
  options.stop = interrupted;
  return compare::compare(pairs, options);
}

}  // namespace ttcheck::diff
