// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work with a library that is not safe on hostile files, done in a worker: if it crashes, hangs or
// runs out of memory there, that is an Error here, and so is what it tries to do to the system.

#include <cstddef>
#include <string_view>
#include <vector>

#include "core/model/source.hpp"
#include "formats/sandbox/worker.hpp"

namespace ttcheck::formats {

/// Runs `parser` in a worker on a view of `file` whose reads this process makes; returns what it
/// returned, which is as little to be trusted as the file. Throws its Error, or one that says how
/// the worker ended: by a signal (SIGXCPU after 3 s of CPU time and one more per MiB of the file,
/// at most 600; SIGSYS for a system call that no parser makes), by 60 s without a word, or with
/// more than 1 GiB to say.
std::vector<std::byte> in_child(const Source& file, const WorkerParser& parser,
                                std::string_view argument);

}  // namespace ttcheck::formats
