// SPDX-License-Identifier: Apache-2.0
#include "core/diff/head.hpp"

#include "core/model/summary.hpp"

namespace ttcheck::diff {

Verdict head_of(const Run& reference, const Run& candidate) {
  Verdict verdict;
  verdict.reference = summary_of(reference);
  verdict.candidate = summary_of(candidate);
  return verdict;
}

}  // namespace ttcheck::diff
