// SPDX-License-Identifier: Apache-2.0
#include "core/explain/moments_reset.hpp"

namespace ttcheck::explain {

std::optional<Explanation> moments_reset(const Subject& subject) {
  const Kind kind = subject.result->kind;
  if (kind != Kind::moment1 && kind != Kind::moment2 && kind != Kind::momentum) return std::nullopt;
  if (!subject.metrics().zero_candidate()) return std::nullopt;
  Explanation found;
  found.code = Code::moments_reset;
  found.hypothesis = {"scale", {{"k", 0.0}}};
  found.words = "the candidate's moments are zero, as those of an optimizer that starts anew";
  return found;
}

}  // namespace ttcheck::explain
