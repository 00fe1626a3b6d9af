// SPDX-License-Identifier: Apache-2.0
// A library to preload: the n-th call of one kind fails, or that and all after it.
//   FAIL=pread:EIO:5  FAIL=open:EACCES:3+  FAIL=pread:short:2 (half of what was asked)
//   FAIL=pread:end:2  FAIL=pread:stop:7 (the process stops in front of it, until it is told to go
//   on)
// Kinds: open fstat getdents pread read write close fsync rename malloc (each way to allocate), and
// newer: calls that kernels before Linux 5.6 lack. All processes of a program count together. With
// FAIL_COUNT=FILE a line is added at the end of each: how many such calls there were, and how many
// failed.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace {

/// Shared by what is forked.
struct Counts {
  std::atomic<long> calls = 0;
  std::atomic<long> failed = 0;
};

struct Plan {
  std::string kind;
  std::string how;
  long first = 0;
  bool later = false;  ///< those after it, too
  long out = -1;       ///< of FAIL_COUNT
  Counts* counts = new (::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE,
                               MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Counts;

  Plan() {
    const char* given = std::getenv("FAIL");
    if (given == nullptr) return;
    const std::string text = given;
    const std::size_t one = text.find(':'), two = text.rfind(':');
    kind = text.substr(0, one);
    how = text.substr(one + 1, two - one - 1);
    first = std::atol(text.c_str() + two + 1);
    later = text.ends_with('+');
    const char* file = std::getenv("FAIL_COUNT");
    if (file == nullptr) return;
    // at the end the program may open nothing more for writing
    out = ::syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  }

  ~Plan() {
    if (out < 0 || kind.empty()) return;
    const std::string line =
        std::to_string(counts->calls) + " " + std::to_string(counts->failed) + "\n";
    ::syscall(SYS_write, out, line.data(), line.size());
  }

  bool fails(std::string_view called) {
    if (called != kind) return false;
    const long number = ++counts->calls;
    if (number != first && !(later && number > first)) return false;
    ++counts->failed;
    return true;
  }

  int error() const {
    constexpr std::pair<std::string_view, int> kErrors[] = {
        {"EIO", EIO},       {"EINTR", EINTR},   {"EACCES", EACCES},
        {"ESTALE", ESTALE}, {"EMFILE", EMFILE}, {"ENOENT", ENOENT},
        {"ENOSPC", ENOSPC}, {"ENOSYS", ENOSYS}, {"ENOMEM", ENOMEM}};
    for (const auto& [name, value] : kErrors) {
      if (name == how) return value;
    }
    return EIO;
  }
};

Plan& plan() {
  static Plan made;
  return made;
}

/// True when this call fails; errno says why.
bool fail(std::string_view called) {
  if (!plan().fails(called)) return false;
  errno = plan().error();
  return true;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool begun = false;  // before, the plan itself allocates
__attribute__((constructor)) void begin() {
  plan();
  begun = true;
}

/// True when there is no memory for `caller`. There is for libseccomp, which does not look: the
/// program sees to it before.
bool empty(const void* caller) {
  if (!begun || plan().kind != "malloc") return false;
  Dl_info where{};
  const bool known = ::dladdr(caller, &where) != 0 && where.dli_fname != nullptr;
  if (known && std::string_view(where.dli_fname).find("libseccomp") != std::string_view::npos) {
    return false;
  }
  return fail("malloc");
}

}  // namespace

extern "C" {

ssize_t pread(int fd, void* bytes, size_t count, off_t offset) {
  static const auto call = real<ssize_t(int, void*, size_t, off_t)>("pread");
  if (!plan().fails("pread")) return call(fd, bytes, count, offset);
  if (plan().how == "short") return call(fd, bytes, count > 1 ? count / 2 : count, offset);
  if (plan().how == "end") return 0;
  if (plan().how == "stop") {
    ::raise(SIGSTOP);
    return call(fd, bytes, count, offset);
  }
  errno = plan().error();
  return -1;
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t offset) {
  return pread(fd, bytes, count, offset);
}
ssize_t read(int fd, void* bytes, size_t count) {
  static const auto call = real<ssize_t(int, void*, size_t)>("read");
  return fail("read") ? -1 : call(fd, bytes, count);
}
ssize_t write(int fd, const void* bytes, size_t count) {
  static const auto call = real<ssize_t(int, const void*, size_t)>("write");
  return fd > 2 && fail("write") ? -1 : call(fd, bytes, count);
}
int close(int fd) {
  static const auto call = real<int(int)>("close");
  if (!plan().fails("close")) return call(fd);
  call(fd);
  errno = plan().error();
  return -1;
}
int fsync(int fd) {
  static const auto call = real<int(int)>("fsync");
  return fail("fsync") ? -1 : call(fd);
}
int rename(const char* from, const char* to) {
  static const auto call = real<int(const char*, const char*)>("rename");
  return fail("rename") ? -1 : call(from, to);
}
int fstat(int fd, struct stat* status) {
  static const auto call = real<int(int, struct stat*)>("fstat");
  return fail("fstat") ? -1 : call(fd, status);
}
int fstat64(int fd, struct stat64* status) {
  static const auto call = real<int(int, struct stat64*)>("fstat64");
  return fail("fstat") ? -1 : call(fd, status);
}
dirent* readdir(DIR* directory) {
  static const auto call = real<dirent*(DIR*)>("readdir");
  return fail("getdents") ? nullptr : call(directory);
}
dirent64* readdir64(DIR* directory) {
  static const auto call = real<dirent64*(DIR*)>("readdir64");
  return fail("getdents") ? nullptr : call(directory);
}
int open(const char* path, int flags, ...) {
  static const auto call = real<int(const char*, int, ...)>("open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return fail("open") ? -1 : call(path, flags, mode);
}
int openat(int directory, const char* path, int flags, ...) {
  static const auto call = real<int(int, const char*, int, ...)>("openat");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  return fail("open") ? -1 : call(directory, path, flags, mode);
}
ssize_t getrandom(void* bytes, size_t count, unsigned flags) {
  static const auto call = real<ssize_t(void*, size_t, unsigned)>("getrandom");
  return fail("newer") ? -1 : call(bytes, count, flags);
}
void* __libc_malloc(size_t size);  // NOLINT: glibc's names
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void* malloc(size_t size) {
  return empty(__builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  return empty(__builtin_return_address(0)) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, size_t size) {
  return empty(__builtin_return_address(0)) ? nullptr : __libc_realloc(block, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  return empty(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  if (empty(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return 0;
}
/// openat2 has no function in the C library.
long syscall(long number, ...) {
  static const auto call = real<long(long, ...)>("syscall");
  va_list rest;
  va_start(rest, number);
  long words[6];
  for (long& word : words) word = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_openat2 && (fail("open") || fail("newer"))) return -1;
  return call(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}

}  // extern "C"
