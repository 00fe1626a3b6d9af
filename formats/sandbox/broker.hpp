// SPDX-License-Identifier: Apache-2.0
#pragma once
// The process that was set apart: forked before the first byte of an input is read, it does for
// this process what this one may no longer do once it is confined, and nothing else: errands that
// were known before, and starting the workers in which parsers run that are not safe on hostile
// files. It ends with this process.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/source.hpp"
#include "formats/sandbox/broker_process.hpp"
#include "formats/sandbox/channel.hpp"
#include "formats/sandbox/worker.hpp"

namespace ttcheck::formats {

/// Starts the broker, once a process and while it has one thread. False where no process or channel
/// can be started: there are no workers then.
bool set_apart(std::vector<Errand> errands);

bool is_apart();  ///< whether a broker runs

/// Has errand `which` of set_apart done; returns its answer. Throws its Error, and Error where the
/// broker is gone. REQUIRES is_apart().
std::uint64_t run_errand(std::size_t which, std::uint64_t number, std::string_view text);

/// A worker, seen from here.
struct WorkerEnds {
  Channel data;  ///< what it says (worker.hpp)
  /// End sending here, and the worker is ended; then comes how it ended, as of waitpid(2).
  Channel control;
};

/// Starts a worker on `file`, and the broker where nobody has (the tests' programs). Throws Error.
WorkerEnds start_worker(const WorkerParser& parser, const Source& file, std::string_view argument);

}  // namespace ttcheck::formats
