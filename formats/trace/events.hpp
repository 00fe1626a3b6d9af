// SPDX-License-Identifier: Apache-2.0
#pragma once
// events.jsonl of the native trace: one JSON object a line, a scalar of one step and rank.

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/source.hpp"

namespace ttcheck::formats {

struct TraceEvents {
  std::map<std::int64_t, std::vector<Fact>> facts;  ///< by step, in file order
  std::vector<Finding> findings;                    ///< one for each bad line, with its number
};

/// The events of `steps` become facts; those of other steps are skipped. A value that all ranks
/// share is the fact `<name>`, others are `<name>.rank.<r>`; repeats of a rank are numbered
/// `<name>.1` and so on. Compared: learning rate, loss scale, batch, sample and RNG ids, counters
/// of steps and tokens; losses and norms are measured, so they are notes. Ranks that disagree on
/// the learning rate, the loss scale or the optimizer's step are a warning (TT309). Bad lines are
/// named and left out. Memory: one line of at most 16 MiB, and at most 100000 events a step, beyond
/// which it is said once that the rest was not read.
TraceEvents read_trace_events(const Source& file, const std::set<std::int64_t>& steps);

}  // namespace ttcheck::formats
