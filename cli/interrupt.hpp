#pragma once
// Signals that ask the program to stop: the first one asks for an end with what is known so far,
// the second kills.

#include <string>

#include "core/base/interrupted.hpp"
#include "core/model/finding.hpp"

namespace ttcheck::cli {

/// Installs the handlers; called once, by main: SIGINT, SIGTERM, SIGXCPU (CPU time limit), SIGALRM,
/// and SIGHUP unless it was ignored (nohup). SIGPIPE is ignored, a closed pipe shows as EPIPE; so
/// is SIGXFSZ, a file size limit shows as EFBIG.
void watch_signals();

/// Says that the work was cut short and `left` was not done. REQUIRES that a signal came.
Finding interruption(const std::string& left);

}  // namespace ttcheck::cli
