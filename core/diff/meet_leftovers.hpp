#pragma once
// Tensors that were not compared: said one by one, so that the counts add up.

#include <optional>
#include <span>

#include "core/align/align.hpp"
#include "core/model/tensor.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

struct Aligned {
  std::span<const Tensor> reference, candidate;
  const align::Alignment& alignment;
  std::optional<std::int64_t> step;
  bool trace = false;  ///< both are traces: what one side lacks may be a warning
  std::span<const Identity> free_reference, free_candidate;  ///< rep=any: in no tensor list
  /// Files or ranks of that side are not there or cannot be read: what it lacks may be in them.
  bool reference_partial = false, candidate_partial = false;
  bool tied = false;  ///< a side states that embeddings are
};

/// TT305, TT306 and TT304 for what did not meet; exclusions to the coverage. A tensor whose
/// counterpart is known to be unreadable, or may be in what was not read, counts as unreadable, not
/// as missing; one whose counterpart is free (rep=any) is excluded as that is. A record of a trace
/// is a warning where its neighbours meet (align::neighbours_meet), else an error. An adapter and
/// its base have nothing to compare: that is said in one warning, and both are excluded.
void report_leftovers(const Aligned& aligned, Verdict& verdict);

}  // namespace ttcheck::diff
