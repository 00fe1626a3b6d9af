// SPDX-License-Identifier: Apache-2.0
#pragma once
// Signals that ask the program to stop: the first one asks for an end with what is known so far,
// the second kills.

#include "core/base/interrupted.hpp"

namespace ttcheck::cli {

/// Installs the handlers; called once, by main: SIGINT, SIGTERM, SIGXCPU (CPU time limit), SIGALRM,
/// and SIGHUP unless it was ignored (nohup). SIGPIPE is ignored, a closed pipe shows as EPIPE; so
/// is SIGXFSZ, a file size limit shows as EFBIG.
void watch_signals();

}  // namespace ttcheck::cli
