// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tensors that were not compared: said one by one, so that the counts add up.

#include <string>

#include "core/diff/aligned.hpp"
#include "core/model/verdict.hpp"

namespace ttcheck::diff {

/// TT305, TT306 and TT304 for what did not meet; exclusions to the coverage. A tensor whose
/// counterpart is known to be unreadable, or may be in what was not read, counts as unreadable, not
/// as missing; one whose counterpart is free (rep=any) is excluded as that is. A record of a trace
/// is a warning where its neighbours meet (align::neighbours_meet), else an error. An adapter and
/// its base have nothing to compare: that is said in one warning, and both are excluded. Gives the
/// reason why the two cannot be compared, where what did not meet is one (core/diff/another_model);
/// what one side lacks is a note then.
std::string report_leftovers(const Aligned& aligned, Verdict& verdict);

}  // namespace ttcheck::diff
