// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program ends with an answer, or says that it has none: not by a signal that is its own fault,
// and not with an exit code that a library chose, which would be read as an answer.

namespace ttcheck {

inline constexpr int kInternal = 70;  ///< EX_SOFTWARE of sysexits.h: what should not have happened

/// From now on, until answered(): std::terminate, abort(3) (the C library where it has no memory
/// for what a thread leaves to be done) and exit(3) (OpenMP's library where it has none) end the
/// process with kInternal and a line on stderr. Nothing is cleaned up.
void end_with_an_answer();

/// What main returns next is the answer.
void answered();

}  // namespace ttcheck
