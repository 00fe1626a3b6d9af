#pragma once
// Pairs -> metrics, in one fused streamed pass; nothing is merged, memory does not grow with bytes.

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/model/metrics.hpp"
#include "core/model/tensor.hpp"
#include "core/model/value_map.hpp"

namespace ttcheck::compare {

/// Of one element: |b-a| against atol + rtol |a|.
struct Tolerance {
  double rtol = 0, atol = 0;

  auto operator<=>(const Tolerance&) const = default;
};

/// REQUIRES equal shapes. A tolerance, where given, is used for max_quotient; else for nothing.
/// Values of a side are compared as its map makes them, where it has one; replicas as they are.
struct Pair {
  const Tensor* reference = nullptr;
  const Tensor* candidate = nullptr;
  const Tolerance* tolerance = nullptr;
  const ValueMap* reference_map = nullptr;
  const ValueMap* candidate_map = nullptr;

  bool mapped() const { return reference_map != nullptr || candidate_map != nullptr; }
};

/// Asked before each range, from all threads; once it is true, what is left is not read. May be
/// empty.
using Stop = std::function<bool()>;

/// Thrown by `examine` and `by_rank` when they were stopped.
class Stopped : public Error {
 public:
  Stopped() : Error("stopped before its end") {}
};

struct CompareOptions {
  bool exact_sums = false;                                                ///< fp64 throughout
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  ///< bytes; may be empty
  Stop stop;
};

/// What pass 1 found of one pair. When bytes could not be read, `error` says so and metrics cover
/// the parts that could.
struct Compared {
  Metrics metrics;
  std::vector<std::int32_t> reference_differs,
      candidate_differs;         ///< ranks of replicas unlike the primary
  std::unique_ptr<Error> error;  ///< null: everything was read
  bool stopped = false;          ///< some of it was left out because `stop` said so

  /// Read whole, and every replica like its primary.
  bool plain() const {
    return !error && !stopped && reference_differs.empty() && candidate_differs.empty();
  }
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
