// SPDX-License-Identifier: Apache-2.0
#include "formats/sandbox/confine.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "tests/support/temp_dir.hpp"
#include "tests/unit/skip.hpp"

namespace ttcheck::formats {
namespace {

constexpr int kNoLayer = 101, kKilled = 102;

/// What `tried` returns in a process that may read `readable` alone.
int in_confined(const std::vector<std::string>& readable, const std::function<int()>& tried) {
  const pid_t child = ::fork();
  if (child == 0) {
    confine(readable);
    ::_exit(confined().files && confined().calls ? tried() : kNoLayer);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled;
}

int opened(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags, 0600);
  return file >= 0 ? 0 : errno;
}

bool has_layers() {
  if (in_confined({}, [] { return 0; }) != kNoLayer) return true;
  tests::skip_case("this kernel has not both layers, or this is a sanitizer's build");
  return false;
}

TEST_CASE("what was given is read, and nothing else") {
  if (!has_layers()) return;
  const tests::TempDir dir;
  const std::string in = dir.write("run/below/a", "1"), beside = dir.write("b", "2");
  const std::string run = dir.path("run");
  CHECK(in_confined({run}, [&] { return opened(in, O_RDONLY); }) == 0);
  CHECK(in_confined({run}, [&] { return opened(run, O_RDONLY | O_DIRECTORY); }) == 0);
  CHECK(in_confined({in}, [&] { return opened(in, O_RDONLY); }) == 0);
  CHECK(in_confined({in, "", dir.path("missing")}, [&] { return opened(in, O_RDONLY); }) == 0);
  CHECK(in_confined({in}, [&] { return opened(run, O_RDONLY); }) == EACCES);
  CHECK(in_confined({run}, [&] { return opened(beside, O_RDONLY); }) == EACCES);
  CHECK(in_confined({run}, [&] { return opened("/etc/passwd", O_RDONLY); }) == EACCES);
}

TEST_CASE("nothing is written, made, run or reached") {
  if (!has_layers()) return;
  const tests::TempDir dir;
  const std::string in = dir.write("a", "1");
  const auto tried = [&](const std::function<int()>& what) {
    return in_confined({dir.path()}, what);
  };
  for (const int flags : {O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_RDONLY | O_CREAT}) {
    CHECK(tried([&] { return opened(in, flags); }) == EPERM);
  }
  CHECK(tried([&] { return ::unlink(in.c_str()) == 0 ? 0 : errno; }) == EPERM);
  CHECK(tried([] { return ::execl("/bin/true", "true", nullptr) == 0 ? 0 : errno; }) == EPERM);
  CHECK(tried([] { return ::fork() >= 0 ? 0 : errno; }) == EPERM);
  CHECK(tried([] { return ::kill(::getppid(), 0) == 0 ? 0 : errno; }) == EPERM);
}

TEST_CASE("threads and signals to itself are left") {
  if (!has_layers()) return;
  CHECK(in_confined({}, [] {
          int seen = 1;
          std::thread([&] { seen = ::kill(::getpid(), 0); }).join();
          return seen;
        }) == 0);
}

}  // namespace
}  // namespace ttcheck::formats
