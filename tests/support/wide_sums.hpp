// SPDX-License-Identifier: Apache-2.0
#pragma once
// A block measured in fp64, as core/compare/measure does where a pair asks for it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/compare/wide.hpp"

namespace ttcheck::tests {

/// What `count` stored elements, the first with logical index `base`, add to `metrics`.
inline void add_wide(const compare::Rule& rule, const std::vector<std::byte>& a,
                     const std::vector<std::byte>& b, int count, std::int64_t base,
                     Metrics& metrics) {
  const auto block = std::make_unique<compare::WideBlock>();
  compare::decode_block(rule, a.data(), b.data(), count, base, *block, metrics);
  compare::sum_block(rule, *block, count, base, metrics);
}

}  // namespace ttcheck::tests
