// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of one step of two traces, as the rules of chance look at them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/compare/pair.hpp"
#include "core/model/fact.hpp"
#include "core/model/metrics.hpp"
#include "core/model/tensor.hpp"

namespace ttcheck::noise {

/// Two records that met.
struct RecordPair {
  const Tensor* reference = nullptr;
  const Tensor* candidate = nullptr;
  const compare::Pair* compared = nullptr;  ///< null where their bytes were not
};

struct StepRecords {
  std::span<const RecordPair> pairs;  ///< by TensorResult::pair
  std::vector<const Metrics*>
      known;  ///< by pair, of who looked before: null where none is; or empty
  std::span<const Fact> reference_facts, candidate_facts;
  std::optional<std::int64_t> step;  ///< its number
  double updates = 0;                ///< that the runs have made at the end of it, at most
  bool trace = false;                ///< both sides are
  bool first_step = false;           ///< nothing is known of those before it
  bool alone = false;  ///< those before it were not compared, but for what one of them left
};

}  // namespace ttcheck::noise
