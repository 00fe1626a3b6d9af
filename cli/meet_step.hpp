#pragma once
// One step of both runs, up to the pairs whose bytes are to be compared: open, assemble, align.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "cli/judging.hpp"
#include "cli/step_diff.hpp"
#include "core/align/align.hpp"
#include "core/align/dequantise.hpp"
#include "core/assemble/assemble.hpp"
#include "core/limits/limits.hpp"
#include "core/model/run.hpp"

namespace ttcheck::cli {

/// One side of one step: read, then put together; or why it could not be.
struct Opened {
  State state;  ///< gone once it is put together
  std::vector<Fact> facts;
  std::vector<Finding> findings;
  std::uint64_t bytes_unclaimed = 0, bytes = 0;
  std::int64_t unreadable = 0;
  std::vector<NamedState> named;
  assemble::Assembly assembly;
  std::optional<Error> error;
};

/// The pairs of `work` are in the order in which a difference would have come about; they refer to
/// the alignment's rules and the sides' tensors.
struct MetStep {
  std::shared_ptr<std::array<Opened, 2>> sides;
  align::Dequantised dequantised;  ///< read by the sides' tensors
  align::Alignment alignment;
  Work work;
  bool trace = false;                ///< both sides are
  std::vector<FactResult> facts;     ///< that come to a finding
  std::optional<std::int64_t> step;  ///< the number that findings carry
};

/// What the limits need to know of all records of two traces, told without their bytes.
limits::LimitContext context_of_records(std::span<const Tensor> reference,
                                        std::span<const Tensor> candidate);

/// Puts results of the alignment's pairs into their order.
void sort_results(std::span<TensorResult> results, const align::Alignment& alignment,
                  std::span<const Tensor> reference);

/// Nothing when a side of the step cannot be read. What has no bytes or another shape is judged
/// here and now; facts, names that do not meet and counts go to `verdict`.
std::optional<MetStep> meet_step(const StepPair& steps, DiffContext& context, Verdict& verdict);

}  // namespace ttcheck::cli
