// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tensors of two sides while rules pair them: what is still alone, and what was done.

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/align/alignment.hpp"

namespace ttcheck::align {

/// What is still alone on each side while the rules run.
struct Bench {
  std::span<const Tensor> reference, candidate;
  std::vector<std::size_t> left, right;
  Alignment done;
};

using KeyOf = std::function<std::string(const Tensor&)>;

/// A key that also holds what must agree beside the name; never empty.
std::string keyed(const Tensor& tensor, std::string_view name);

/// Pairs what has the same non-empty key on both sides, where the key is unique on each.
void pair_by(Bench& bench, std::string_view rule, const KeyOf& left_key, const KeyOf& right_key);

/// Pairs equal identities. REQUIRES that each side has an identity once.
void pair_same(Bench& bench);

/// Takes what `is_out` names out of both sides and counts it under `rule`.
void exclude(Bench& bench, const std::string& rule,
             const std::function<bool(const Tensor&)>& is_out);

}  // namespace ttcheck::align
