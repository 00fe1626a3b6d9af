// SPDX-License-Identifier: Apache-2.0
#pragma once
// One step of both runs whose tensors have met.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/align/align.hpp"
#include "core/align/dequantise.hpp"
#include "core/diff/context.hpp"
#include "core/diff/graphs.hpp"
#include "core/diff/open_step.hpp"
#include "core/diff/work.hpp"
#include "core/model/step.hpp"
#include "core/model/verdict.hpp"
#include "core/noise/step_records.hpp"

namespace ttcheck::diff {

/// A pair that is judged without its bytes.
struct UnreadPair {
  std::size_t place = 0;     ///< among all pairs
  bool by_manifest = false;  ///< manifests say that both are the same
};

/// The pairs are in the order in which a difference would have come about; they refer to the
/// alignment's rules and the sides' tensors.
struct MetStep {
  MetStep() = default;
  MetStep(MetStep&&) = default;  // pairs refer to what it holds
  MetStep& operator=(MetStep&&) = default;

  StepPair steps;
  std::shared_ptr<std::array<OpenedStep, 2>> sides;
  std::shared_ptr<const Graphs> graphs;  ///< of traces of which something differs; else null
  align::Dequantised dequantised;        ///< read by the sides' tensors
  align::Alignment alignment;
  Work work;                             ///< the pairs whose bytes are to be compared
  std::vector<noise::RecordPair> pairs;  ///< all of the alignment's: TensorResult::pair
  std::vector<char> evidence;  ///< by place: it is not reported (core/diff/meet_filters); or empty
  Work unreported;             ///< of these, the pairs whose bytes are compared
  std::vector<UnreadPair> unread;    ///< those that are judged without
  bool trace = false;                ///< both sides are
  std::vector<FactResult> facts;     ///< that come to a finding
  std::optional<std::int64_t> step;  ///< the number that findings carry

  const std::vector<Tensor>& reference() const { return sides->front().assembly.tensors; }
  const std::vector<Tensor>& candidate() const { return sides->back().assembly.tensors; }

  bool is_evidence(std::size_t place) const { return !evidence.empty() && evidence[place] != 0; }

  /// The pair as its bytes were compared, or are to be; null where they are not.
  const compare::Pair* compared(const TensorResult& result) const {
    return pairs[result.pair].compared;
  }
};

/// The step as the rules of chance look at it. REQUIRES that `met` and `context` outlive the
/// answer.
noise::StepRecords records_of(const MetStep& met, const DiffContext& context);

}  // namespace ttcheck::diff
