// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/call_filter.hpp"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>

namespace ttcheck::formats {
namespace {

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

// clang-format off
/// What reading and comparing never needs, whatever its arguments. Names that an architecture does
/// not have are left out.
constexpr std::array kRefused = {
    "execve", "execveat", "fork", "vfork",                               // programs, processes
    "socket", "connect", "bind", "listen", "accept", "accept4",          // who is elsewhere
    "ptrace", "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "pidfd_send_signal",
    "rt_sigqueueinfo", "rt_tgsigqueueinfo",
    "creat", "truncate", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat",  // files, by name
    "unlink", "unlinkat", "rename", "renameat", "renameat2", "link", "linkat", "symlink",
    "symlinkat", "chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "fchown", "lchown",
    "fchownat", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr",
    "fremovexattr", "utime", "utimes", "utimensat", "futimesat", "open_by_handle_at",
    "mount", "umount2", "move_mount", "open_tree", "fsopen", "fsmount", "fsconfig", "pivot_root",
    "chroot", "unshare", "setns", "swapon", "swapoff", "quotactl", "acct",  // the system
    "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "settimeofday", "clock_settime",
    "sethostname", "setdomainname", "personality"};

/// What a worker lives on: memory, its channel, the clock, an end; and what abort(3) does. The C
/// library asks for more (qsort(3) how much memory the machine has, by a call or a file), and does
/// without.
constexpr std::array kAllowed = {
    "read", "write", "readv", "writev", "sendto", "recvfrom", "poll", "ppoll", "close", "brk",
    "mmap", "munmap", "mremap", "madvise", "mprotect", "futex", "rt_sigreturn", "rt_sigprocmask",
    "rt_sigaction", "sigaltstack", "getpid", "gettid", "getrandom", "clock_gettime",
    "gettimeofday", "clock_nanosleep", "nanosleep", "sched_yield", "restart_syscall", "exit",
    "exit_group"};
// clang-format on

/// What a filter takes while it is made: libseccomp goes on with null where there is no memory.
/// Freed memory is kept (cli/main.cpp), so that what was there once is there again.
constexpr std::size_t kWorkspace = std::size_t{1} << 20;

Filter filter(std::uint32_t otherwise) {
  ::operator delete(::operator new(kWorkspace));
  Filter made(::seccomp_init(otherwise), &::seccomp_release);
  if (made) {
    // No slower memory accesses for it: what a filter keeps from doing, it keeps from doing.
    static_cast<void>(::seccomp_attr_set(made.get(), SCMP_FLTATR_CTL_SSB, 1));
  }
  return made;
}

template <class... Conditions>
void add(const Filter& to, std::uint32_t action, const char* name, Conditions... conditions) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return;
  static_cast<void>(
      ::seccomp_rule_add(to.get(), action, call, sizeof...(conditions), conditions...));
}

scmp_arg_cmp where(unsigned argument, scmp_compare how, scmp_datum_t value, scmp_datum_t bits = 0) {
  return {argument, how, value, bits};
}

/// Opening for writing, by the flags in argument `at`.
void refuse_writing(const Filter& to, std::uint32_t refused, const char* name, unsigned at) {
  for (const int flag : {O_WRONLY, O_RDWR, O_CREAT, O_TRUNC}) {
    const auto bit = static_cast<scmp_datum_t>(flag);
    add(to, refused, name, where(at, SCMP_CMP_MASKED_EQ, bit, bit));
  }
}

}  // namespace

bool refuse_calls(bool files_held) {
  const Filter made = filter(SCMP_ACT_ALLOW);
  if (!made) return false;
  const std::uint32_t refused = SCMP_ACT_ERRNO(EPERM), missing = SCMP_ACT_ERRNO(ENOSYS);
  for (const char* name : kRefused) add(made, refused, name);
  add(made, missing, "clone3");  // its flags are out of sight: the C library then calls clone
  add(made, refused, "clone", where(0, SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
  const auto self = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) add(made, refused, name, where(0, SCMP_CMP_NE, self));
  for (const int request : {TIOCSTI, TIOCLINUX}) {  // words into the terminal's mouth
    add(made, refused, "ioctl",
        where(1, SCMP_CMP_MASKED_EQ, 0xffffffff, static_cast<scmp_datum_t>(request)));
  }
  refuse_writing(made, refused, "open", 1);
  refuse_writing(made, refused, "openat", 2);
  if (!files_held) add(made, missing, "openat2");
  return ::seccomp_load(made.get()) == 0;
}

bool allow_talk_alone() {
  const Filter made = filter(SCMP_ACT_ERRNO(EPERM));
  if (!made) return false;
  for (const char* name : kAllowed) add(made, SCMP_ACT_ALLOW, name);
  for (const char* name : kRefused) add(made, SCMP_ACT_KILL_PROCESS, name);
  const auto self = static_cast<scmp_datum_t>(::getpid());
  for (const char* name : {"kill", "tgkill"}) {
    add(made, SCMP_ACT_ALLOW, name, where(0, SCMP_CMP_EQ, self));
  }
  return ::seccomp_load(made.get()) == 0;
}

}  // namespace ttcheck::formats
