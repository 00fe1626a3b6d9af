// SPDX-License-Identifier: Apache-2.0
// A library to preload: a parser that a file has taken over. At the first bytes of an input that
// the program reads (HOSTILE=main:ACT) or that a worker of it receives (HOSTILE=worker:ACT), it
// does what no parser needs. What it could do ends the process by SIGUSR1; where it was refused,
// the read fails. LACKING=landlock, seccomp or both: a kernel that does not have them.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace {

int generation = 0;  // 0: the program, 1: what it forked, 2: what that forked

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A path beside the report, in the folder that the test names.
std::string beside(const char* name) {
  return std::string(variable("HOSTILE_FOLDER")) + "/" + name;
}

bool opened(long descriptor) { return descriptor >= 0; }

bool reads() { return opened(::syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0)); }
bool lists() { return opened(::syscall(SYS_openat, AT_FDCWD, "/etc", O_RDONLY | O_DIRECTORY, 0)); }
bool writes() {
  return opened(::syscall(SYS_openat, AT_FDCWD, beside("new").c_str(), O_WRONLY | O_CREAT, 0644));
}
bool writes_newer() {
  const std::array<std::uint64_t, 3> how{O_WRONLY, 0, 0};
  return opened(::syscall(SYS_openat2, AT_FDCWD, beside("victim").c_str(), how.data(), sizeof how));
}
bool truncates() { return ::truncate(beside("victim").c_str(), 0) == 0; }
bool removes() { return ::unlink(beside("victim").c_str()) == 0; }
bool renames() { return ::rename(beside("victim").c_str(), beside("renamed").c_str()) == 0; }
bool opens_up() { return ::chmod(beside("victim").c_str(), 0777) == 0; }
bool connects() {
  const int file = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in there{};
  there.sin_family = AF_INET;
  there.sin_port = htons(static_cast<std::uint16_t>(std::atoi(variable("HOSTILE_PORT").data())));
  there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return file >= 0 && ::connect(file, reinterpret_cast<sockaddr*>(&there), sizeof there) == 0;
}
bool forks() {
  const auto child = static_cast<pid_t>(::syscall(SYS_fork));
  if (child == 0) ::_exit(0);
  return child > 0;
}
bool runs() {
  const std::string made = beside("ran");
  ::execl("/bin/sh", "sh", "-c", ": >\"$1\"", "sh", made.c_str(), static_cast<char*>(nullptr));
  return false;
}
bool traces() { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr) == 0; }
bool signals() { return ::kill(::getppid(), 0) == 0; }
bool rings() {
  std::array<char, 256> parameters{};
  return opened(::syscall(SYS_io_uring_setup, 1, parameters.data()));
}

struct Act {
  std::string_view name;
  bool (*tried)();
};
constexpr Act kActs[] = {
    {"read", reads},         {"list", lists},     {"write", writes},   {"write2", writes_newer},
    {"truncate", truncates}, {"remove", removes}, {"rename", renames}, {"chmod", opens_up},
    {"connect", connects},   {"fork", forks},     {"run", runs},       {"trace", traces},
    {"signal", signals},     {"ring", rings},
};

/// Tries the act that the process `who` is to do. True where it was refused.
bool refused(std::string_view who) {
  const std::string_view given = variable("HOSTILE");
  if (!given.starts_with(who) || given.substr(who.size(), 1) != ":") return false;
  for (const auto& [name, tried] : kActs) {
    if (name != given.substr(who.size() + 1)) continue;
    if (tried()) ::raise(SIGUSR1);
  }
  return true;
}

bool lacks(std::string_view what) {
  const std::string_view lacking = variable("LACKING");
  return lacking == what || lacking == "both";
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  static const auto call = real<ssize_t(int, void*, size_t, off_t)>("pread");
  if (!refused("main")) return call(fd, bytes, count, offset);
  errno = EIO;
  return -1;
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return pread(fd, bytes, count, offset);
}

/// The program forks a broker, and that the workers.
pid_t fork() {
  static const auto call = real<pid_t()>("fork");
  const pid_t child = call();
  if (child == 0) ++generation;
  return child;
}

ssize_t recv(int fd, void* bytes, size_t count, int flags) {
  static const auto call = real<ssize_t(int, void*, size_t, int)>("recv");
  if (generation < 2 || !refused("worker")) return call(fd, bytes, count, flags);
  errno = EIO;
  return -1;
}

long syscall(long number, ...) {
  static const auto call = real<long(long, ...)>("syscall");
  va_list rest;
  va_start(rest, number);
  std::array<long, 6> words{};
  for (long& word : words) word = va_arg(rest, long);
  va_end(rest);
  const bool landlock = number >= 444 && number <= 446;
  if ((landlock && lacks("landlock")) || (number == SYS_seccomp && lacks("seccomp"))) {
    errno = ENOSYS;
    return -1;
  }
  return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

int prctl(int option, ...) {
  static const auto call = real<int(int, ...)>("prctl");
  va_list rest;
  va_start(rest, option);
  std::array<unsigned long, 4> words{};
  for (unsigned long& word : words) word = va_arg(rest, unsigned long);
  va_end(rest);
  if (option == PR_SET_SECCOMP && lacks("seccomp")) {
    errno = EINVAL;
    return -1;
  }
  return call(option, words[0], words[1], words[2], words[3]);
}

}  // extern "C"
