// SPDX-License-Identifier: Apache-2.0
#include "core/model/zero_words.hpp"

#include <fmt/format.h>

namespace ttcheck {
namespace {

/// Whether a result was decided by how far its values are apart.
bool by_values(Test test) {
  switch (test) {
    case Test::rel:
    case Test::moved:
    case Test::row:
    case Test::outlier:
    case Test::elementwise:
    case Test::exact:
    case Test::rest:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::string zero_words(const TensorResult& result) {
  const Metrics& m = result.metrics;
  if (!by_values(result.test) || (!m.zero_reference() && !m.zero_candidate())) return "";
  const bool candidate = m.zero_candidate();
  return fmt::format("the {} is all zeros, where {} of {} elements of the {} are not",
                     candidate ? "candidate" : "reference", m.unequal_values, m.count,
                     candidate ? "reference" : "candidate");
}

}  // namespace ttcheck
