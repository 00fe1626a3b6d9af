#pragma once
// SIGINT and SIGTERM: the first asks for an end with what is known so far, the second kills.

#include <string>

#include "core/base/error.hpp"

namespace ttcheck::cli {

/// Thrown by stop_if_interrupted. The exit code is 128 + signal.
class Interrupted : public Error {
 public:
  explicit Interrupted(int signal);
};

/// Installs the handlers; called once, by main. SIGPIPE is ignored: a closed pipe shows as EPIPE.
void watch_signals();

/// The signal that came, or 0.
int interrupted();

/// Throws Interrupted once a signal has come. For progress callbacks and loops over steps.
void stop_if_interrupted();

}  // namespace ttcheck::cli
