// SPDX-License-Identifier: Apache-2.0
#include "core/bisect/is_bad.hpp"

#include <algorithm>

namespace ttcheck::bisect {
namespace {

bool is_bad(const Verdict& verdict, Predicate predicate) {
  switch (predicate) {
    case Predicate::diverged:
      return verdict.outcome == Outcome::diverged;
    case Predicate::non_finite:
      return std::ranges::any_of(verdict.tensors, [](const TensorResult& result) {
        return result.metrics.candidate.any();
      });
    case Predicate::replicas_differ:
      return std::ranges::any_of(verdict.findings, [](const Finding& finding) {
        return finding.code == Code::replica_mismatch;
      });
  }
  return false;
}

}  // namespace

Mark mark_of(const Verdict& verdict, Predicate predicate) {
  if (is_bad(verdict, predicate)) return Mark::bad;
  return verdict.outcome == Outcome::not_comparable ? Mark::skip : Mark::good;
}

}  // namespace ttcheck::bisect
