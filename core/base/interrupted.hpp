// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a signal asked the program to stop.

namespace ttcheck {

/// The signal that came, or 0. Cheap; may be asked from any thread.
int interrupted();

/// Says that it came. May be called by a signal's handler.
void note_interruption(int signal);

}  // namespace ttcheck
