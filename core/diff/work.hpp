// SPDX-License-Identifier: Apache-2.0
#pragma once
// The pairs of a step whose bytes are to be compared.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/assemble/ways.hpp"
#include "core/compare/pair.hpp"
#include "core/limits/limits.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::diff {

/// Another way to compare a pair: counts where it comes clearly closer.
struct Alternative {
  std::size_t pair = 0;
  compare::Pair other;
  bool parts = false;  ///< ranks hold a range of each fused part (core/assemble/ways)
};

/// The pairs, where each stands among all pairs of its step, and the name rule of each.
struct Work {
  std::vector<compare::Pair> pairs;
  std::vector<std::size_t> places;
  std::vector<const std::string*> rules;  ///< owned by the alignment, which must outlive this
  std::set<compare::Tolerance> tolerances;
  std::vector<Alternative> alternatives;
  assemble::PartLengths parts;  ///< of fused tensors met so far
  std::deque<Tensor> ways;      ///< of undeclared tensors, that alternatives refer to
  /// What the limits need to know of all pairs, where these are only some of them.
  std::optional<limits::LimitContext> context;
  /// Pairs beside these, constant ones not counted, how many of them are equal, and what all of
  /// them tell the limits: those that manifests tell, unread.
  std::size_t known_counted = 0, known_equal = 0;
  limits::LimitContext known;
  std::optional<double> rate;  ///< of two checkpoints: how long an update is at most, about
};

/// The pairs of `all` at these indices, in this order, with their alternatives and what is known of
/// others; tolerances, rules and ways stay with `all`, which must outlive it.
Work some_of(const Work& all, const std::vector<std::size_t>& wanted);

/// Tells of each pair whether it may be compared in another way (1).
std::vector<char> with_other_ways(const Work& work);

/// All others, in their order. REQUIRES ascending indices.
Work without(const Work& all, const std::vector<std::size_t>& taken);

/// Bytes of both sides.
std::uint64_t bytes_of(const Work& work);

/// Takes over which way each of these pairs was compared.
void put_back(const Work& some, const std::vector<std::size_t>& wanted, Work& all);

}  // namespace ttcheck::diff
