// SPDX-License-Identifier: Apache-2.0
#pragma once
// Pairs -> metrics, in one fused streamed pass; nothing is merged, memory does not grow with bytes.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/compare/moved.hpp"
#include "core/compare/pair.hpp"
#include "core/compare/stop.hpp"
#include "core/model/metrics.hpp"

namespace ttcheck::compare {

struct CompareOptions {
  bool exact_sums = false;  ///< fp64 throughout
  bool sample = false;      ///< floats that differ and are few enough get `Compared::sample`
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< bytes; may be empty
  Stop stop;
};

/// What pass 1 found of one pair. When bytes could not be read, `error` says so and metrics cover
/// the parts that could.
struct Compared {
  Metrics metrics;
  std::vector<std::int32_t> reference_differs,
      candidate_differs;                  ///< ranks of replicas unlike the primary
  std::unique_ptr<Error> error;           ///< null: everything was read
  std::unique_ptr<const Sampled> sample;  ///< null: none was made
  bool stopped = false;                   ///< some of it was left out because `stop` said so

  bool whole() const { return !error && !stopped; }  ///< all of it was read

  /// Read whole, and every replica like its primary.
  bool plain() const { return whole() && reference_differs.empty() && candidate_differs.empty(); }
};

/// Pass 1 over every pair, in file order. Holes on either side are left out.
std::vector<Compared> compare(std::span<const Pair> pairs, const CompareOptions& options);

/// Pass 2 for one pair, given what pass 1 found: worst row, outlier, column, ULP quantiles.
Detail examine(const Pair& pair, const Metrics& metrics, const Stop& stop = {});

/// Every candidate rank by itself: its pieces and replicas against the reference's values there; of
/// terms the reduced value with that rank's addend in it. Empty when the candidate has no ranks.
std::vector<RankError> by_rank(const Pair& pair, const Stop& stop = {});

/// The instruction set in use: "scalar", "avx2" or "avx512" (TTCHECK_ISA overrides).
std::string_view isa();

}  // namespace ttcheck::compare
