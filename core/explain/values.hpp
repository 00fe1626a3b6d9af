// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of a pair or a tensor as doubles, range by range.

#include <cstdint>
#include <functional>
#include <span>

#include "core/compare/pair.hpp"
#include "core/compare/sampled.hpp"

namespace ttcheck::explain {

/// Elements of one range; even, so that packed types are cut at bytes.
inline constexpr std::int64_t kRangeElements = 1 << 16;

/// Called with the linear index of the first element and the values of both sides from there.
using PairVisitor = std::function<void(std::int64_t begin, std::span<const double> reference,
                                       std::span<const double> candidate)>;

/// Visits the first `count` elements of a pair, in order, in one thread. Elements in a hole of
/// either side are 0 on both. REQUIRES real dtypes. Throws Error.
void visit_pair(const compare::Pair& pair, std::int64_t count, const PairVisitor& visit);
/// The elements of one range.
void visit_pair(const compare::Pair& pair, const compare::SampledRange& range,
                const PairVisitor& visit);

/// Elements [begin, begin + out.size()) of one tensor. REQUIRES a real dtype.
void read_values(const Tensor& tensor, const ValueMap* map, std::int64_t begin,
                 std::span<double> out);

}  // namespace ttcheck::explain
