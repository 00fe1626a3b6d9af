// SPDX-License-Identifier: Apache-2.0
#pragma once
// Landlock: a process takes from itself the right to open files (landlock(7), Linux 5.13).

#include <string>
#include <vector>

namespace ttcheck::formats {

/// From now on this thread, and those it starts, open files for reading alone, at and below
/// `readable`; they make and remove none, reach no port by TCP, and send signals and connect to
/// abstract sockets of nobody else, as far as the kernel's Landlock knows these rights. False: the
/// kernel has none, and nothing is restricted. REQUIRES no_new_privs.
bool restrict_files(const std::vector<std::string>& readable);

}  // namespace ttcheck::formats
