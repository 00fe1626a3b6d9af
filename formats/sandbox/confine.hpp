// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a process takes from itself before it reads the first byte of an input, so that who takes
// it over by a hostile file gains nothing: two layers of the kernel, each where the kernel has it.

#include <string>
#include <vector>

namespace ttcheck::formats {

/// Whether this is a sanitizer's build, which maps, forks and traces what it likes.
bool is_sanitized();

/// Which layers hold of this process.
struct Confined {
  bool files = false;  ///< Landlock: opens nothing but what it was given to read
  bool calls = false;  ///< seccomp: no exec, no new process, no sockets, no tracing, no writing
};

/// Confines this process and the threads it starts later: files are opened for reading alone, and
/// only at and below `readable` (paths; those that are not there are left out) and where the kernel
/// tells of the processors. What is open already stays open. Nothing holds in a sanitizer's build.
/// REQUIRES one thread, and that set_apart was called: what writes, runs and forks is not here.
void confine(std::vector<std::string> readable);

const Confined& confined();

/// Confines a worker: it keeps this descriptor alone, may use memory, what the descriptor says, and
/// end. Anything else fails, or ends it by SIGSYS where no library could mean well by it.
void confine_worker(int descriptor);

}  // namespace ttcheck::formats
