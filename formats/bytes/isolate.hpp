// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work with a library that is not safe on hostile files, done in a child process: if it crashes,
// hangs or runs out of memory there, that is an Error here.

#include <cstddef>
#include <functional>
#include <vector>

#include "core/model/source.hpp"

namespace ttcheck::formats {

/// Runs `body` in a forked child on a view of `file` whose reads this process makes; returns what
/// the body returned, which is as little to be trusted as the file. The body must not use threads
/// or take locks that other threads may hold. Throws the body's Error, or one that says how the
/// child ended: by a signal (SIGXCPU after 3 s of CPU time and one more per MiB of the file, at
/// most 600), by 60 s without a word, or with more than 1 GiB to say.
std::vector<std::byte> in_child(const Source& file,
                                const std::function<std::vector<std::byte>(const Source&)>& body);

}  // namespace ttcheck::formats
