// SPDX-License-Identifier: Apache-2.0
#pragma once
// seccomp: a process takes from itself the right to make system calls (libseccomp writes the
// filters).

namespace ttcheck::formats {

/// From now on this process fails (EPERM) in what reading files and comparing needs not: running a
/// program or another process, sockets, tracing, signals to others, changing a file by its name or
/// opening one for writing, mounts, keys, modules, io_uring (which would do all of it unseen).
/// `files_held`: Landlock restricts how openat2(2) opens, whose flags a filter cannot see; else
/// there is no openat2 (ENOSYS). False: the kernel has no filters. REQUIRES no_new_privs and one
/// thread.
bool refuse_calls(bool files_held);

/// From now on this process may use memory, send, receive and end. It fails (EPERM) in any other
/// call, and is ended by SIGSYS for those that refuse_calls refuses. False as above.
bool allow_talk_alone();

}  // namespace ttcheck::formats
