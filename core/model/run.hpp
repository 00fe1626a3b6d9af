// SPDX-License-Identifier: Apache-2.0
#pragma once
// A run: what formats::open gives. Opening reads metadata only; steps are opened one by one.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/model/fact.hpp"
#include "core/model/finding.hpp"
#include "core/model/mesh.hpp"
#include "core/model/record.hpp"

namespace ttcheck {

/// Ranks of which there is nothing, beyond this many, are counted by whoever has to say it.
inline constexpr std::size_t kMaxRanksListed = 1024;

struct Run;

/// A state of its own that lies beside what was opened: averaged weights (`ema.safetensors`), the
/// end of a training (`final`), the same weights in another file.
struct NamedState {
  std::string name;           ///< of its file or directory; stands in front of its tensors' names
  std::function<Run()> open;  ///< while what it lies beside is open; throws Error
};

/// A step that a state says it is of, beside the series that it may lie in.
struct StatedStep {
  std::string by;  ///< what says so: "its name", "global_step", "its optimizer"
  std::int64_t step = 0;
};

/// One step (or the only state of a run without steps), opened.
struct State {
  std::optional<std::int64_t> step;
  std::vector<StatedStep> stated;  ///< of a checkpoint, the best evidence first; each says one step
  /// That its name says if it is one of a series whose `step_form` is `by`; else it says nothing.
  std::optional<StatedStep> in_series;
  std::vector<Record> records;
  bool defined_order = false;  ///< they stand in the order in which the model was defined
  std::vector<Fact> facts;
  std::vector<Finding>
      findings;  ///< of reading; damaged parts are named here and left out of records
  std::vector<std::int32_t>
      missing_ranks;  ///< of which there is nothing, ascending; the first kMaxRanksListed
  std::vector<std::int32_t>
      silent_ranks;  ///< that write nothing, as other ranks hold all they have; ascending
  std::map<std::int32_t, Error> unreadable_ranks;  ///< of which there is something, and why not
  std::set<std::int32_t> damaged_ranks;            ///< of which something could not be read
  std::int64_t least_ranks = 0;  ///< so many took part, as what one recorded proves; 0: not known
  std::uint64_t bytes_unclaimed = 0;  ///< bytes of the input that belong to nothing
  std::int64_t unreadable = 0;        ///< arrays that are there but could not be described
  std::vector<NamedState> named;      ///< beside the step, of a run that has several
};

/// A run is a checkpoint, a series of them, or a trace.
struct Run {
  std::string path;       ///< as given
  std::string real_path;  ///< without links; empty: not known
  std::string format;     ///< a word of the format list
  Mesh mesh;              ///< only what the files prove
  std::vector<std::optional<std::int64_t>>
      steps;              ///< ascending; {nullopt}: one state without number; none: `several`
  std::string step_form;  ///< `model_#.pt`: of steps that only a changing number tells; else empty
  std::vector<Fact> facts;
  std::vector<Finding> findings;
  std::vector<NamedState> named;  ///< beside the run
  bool several = false;           ///< runs side by side, of which none is meant: `named` has them
  bool trace = false;             ///< records have phases and sequence
  bool unnamed = false;           ///< its one tensor has no name of its own, but the file's
  std::function<State(std::size_t)> open;       ///< opens steps[i]; throws Error
  std::function<std::uint64_t()> bytes_read;    ///< from all files so far
  std::function<std::vector<Finding>()> close;  ///< files that changed since they were opened
  std::shared_ptr<void> owner;                  ///< keeps sources and descriptors alive
};

}  // namespace ttcheck
