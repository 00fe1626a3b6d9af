// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/root.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "formats/bytes/beneath.hpp"
#include "formats/bytes/file.hpp"
#include "tests/support/temp_dir.hpp"

namespace ttcheck::formats {
namespace {

using tests::TempDir;
namespace fs = std::filesystem;

std::string content_of(const Source& source) {
  std::string text(source.size(), '\0');
  source.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

TEST_CASE("root: files, listing, entries and bytes read") {
  const TempDir directory;
  directory.write("b.txt", "bbbb");
  directory.write("a/x/deep.txt", "d");
  directory.write("a.txt", "");
  const Root root(directory.path(), false);
  CHECK_FALSE(root.is_file());
  const std::vector<Entry> top = root.list();
  REQUIRE(top.size() == 3);
  CHECK(top[0].path == "a");
  CHECK(top[0].kind == EntryKind::directory);
  CHECK(top[1].path == "a.txt");
  CHECK(top[2].size == 4);
  CHECK(root.list("", 3).size() == 5);
  CHECK(root.list("a", 1).at(0).path == "a/x");
  CHECK(content_of(root.file("b.txt")) == "bbbb");
  CHECK(&root.file("b.txt") == &root.file("b.txt"));
  CHECK(root.bytes_read() == 4);
  CHECK(root.text("a/x/deep.txt", 10) == "d");
  CHECK_THROWS_AS(root.text("b.txt", 3), Error);
  CHECK_FALSE(root.entry("none").has_value());
  const Root below = root.below("a/x");
  CHECK(content_of(below.file("deep.txt")) == "d");
  CHECK(below.file("deep.txt").where(7) == Where{directory.path("a/x/deep.txt"), 7, {}});
  CHECK(root.bytes_read() == 6);
}

TEST_CASE("root: a single file, also by a link that leads elsewhere") {
  const TempDir directory;
  const TempDir other;
  const Root root(directory.write("m.bin", "abc"), false);
  CHECK(root.is_file());
  CHECK(content_of(root.file(root.file_name())) == "abc");
  fs::create_symlink(directory.path("m.bin"), other.path("link"));
  const Root linked(other.path("link"), false);
  CHECK(content_of(linked.file(linked.file_name())) == "abc");
}

TEST_CASE("reads outside of a file name file and offset") {
  const TempDir directory;
  directory.write("f", "0123456789");
  const Root root(directory.path(), false);
  std::array<std::byte, 4> out{};
  try {
    root.file("f").read(8, out);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.where().file == directory.path("f"));
    CHECK(error.where().offset == 8);
  }
  CHECK_THROWS_AS(root.file("f").read(~0ULL, out), Error);
}

TEST_CASE("FS12 nothing outside the root is opened, by name or by link") {
  const TempDir directory;
  const TempDir outside;
  outside.write("secret", "s");
  directory.write("in/x", "x");
  fs::create_symlink(outside.path("secret"), directory.path("absolute"));
  fs::create_symlink("../../../../../etc/passwd", directory.path("in/up"));
  fs::create_symlink("in/x", directory.path("good"));
  fs::create_symlink("../in/./x", directory.path("in/round"));
  fs::create_symlink(outside.path(), directory.path("dir"));
  const Root root(directory.path(), false);
  for (const std::string path : {"absolute", "in/up", "dir/secret"}) {
    CHECK_THROWS_WITH_AS(root.file(path), doctest::Contains("leads out of the run"), Error);
  }
  for (const std::string path : {"../x", "/etc/passwd", "in/../in/x", "", "in//x", "./good"}) {
    CHECK_THROWS_WITH_AS(root.file(path), doctest::Contains("not a plain relative"), Error);
  }
  CHECK(content_of(root.file("good")) == "x");
  CHECK(content_of(root.file("in/round")) == "x");
  const Root free_root(directory.path(), true);
  CHECK(content_of(free_root.file("absolute")) == "s");
}

TEST_CASE("links of a hub snapshot lead to its blobs") {
  const TempDir directory;
  directory.write("models--a--b/blobs/123", "blob");
  directory.write("secret", "s");
  const std::string snapshot = directory.path("models--a--b/snapshots/rev");
  fs::create_directories(snapshot);
  fs::create_symlink("../../blobs/123", snapshot + "/model.bin");
  fs::create_symlink("../../../secret", snapshot + "/bad");
  const Root root(snapshot, false);
  CHECK(content_of(root.file("model.bin")) == "blob");
  CHECK_THROWS_AS(root.file("bad"), Error);
  CHECK_THROWS_AS(root.file("../../blobs/123"), Error);
  const Root file(snapshot + "/model.bin", false);
  CHECK(content_of(file.file(file.file_name())) == "blob");
  const Root cache(directory.path("models--a--b"), false);
  CHECK(content_of(cache.below("snapshots/rev").file("model.bin")) == "blob");
}

TEST_CASE("H19 a snapshot's links lead to its own blobs and nowhere else beside it") {
  const TempDir directory;
  directory.write("hub/blobs/123", "blob");
  directory.write("hub/blobs/in/456", "deep");
  directory.write("hub/private/secret", "s");
  directory.write("hub/snapshots/other/model.bin", "o");
  const std::string snapshot = directory.path("hub/snapshots/rev");
  fs::create_directories(snapshot + "/unet");
  fs::create_symlink("../../private/secret", snapshot + "/secret");
  fs::create_symlink("../../snapshots/other/model.bin", snapshot + "/other");
  fs::create_symlink("../../blobs/../private/secret", snapshot + "/round");
  fs::create_symlink("../../blobs/in/456", snapshot + "/deep");
  fs::create_symlink("../../../blobs/123", snapshot + "/unet/model.bin");
  fs::create_symlink("../../blobs/123", snapshot + "/unet/short");
  const Root root(snapshot, false);
  CHECK(content_of(root.file("unet/model.bin")) == "blob");
  CHECK(content_of(root.below("unet").file("model.bin")) == "blob");
  for (const char* name : {"secret", "other", "round", "deep", "unet/short"}) {
    CHECK_THROWS_AS(root.file(name), Error);
  }
}

/// `file: message` of what was noted; files below `base`.
std::vector<std::string> noted(const Root& root, const std::string& base) {
  std::vector<std::string> lines;
  for (const Error& error : root.take_faults()) {
    CHECK(error.is_unable());
    lines.push_back(error.where().file.substr(base.size() + 1) + ": " + error.message());
  }
  return lines;
}

TEST_CASE("H1 what cannot be opened or followed is noted once, whoever asked") {
  const TempDir directory;
  directory.write("run/good", "x");
  directory.write("run/sub/deep", "x");
  directory.write("secret", "s");
  const std::string run = directory.path("run");
  fs::create_symlink("nowhere", run + "/dangling");
  fs::create_symlink("../secret", run + "/outside");
  fs::create_symlink("itself", run + "/itself");
  fs::create_symlink("good", run + "/inside");
  fs::create_symlink("nowhere", run + "/sub/lost");
  REQUIRE(mkfifo((run + "/pipe").c_str(), 0600) == 0);
  const Root root(run, false);
  root.list();
  using Lines = std::vector<std::string>;
  const std::string out = "leads out of the run, and links are followed only inside it";
  const std::string nothing = "is a link to what is not there";
  CHECK(noted(root, run) ==
        Lines{"dangling: " + nothing,
              "itself: is a link that leads to itself, or a chain of too many links",
              "outside: " + out, "pipe: is neither a regular file nor a directory"});
  CHECK(noted(root, run).empty());
  root.list();
  CHECK(noted(root, run).empty());
  CHECK(root.entry("dangling")->kind == EntryKind::other);
  CHECK_FALSE(root.entry("none"));
  root.glance("sub").list();
  CHECK(noted(root, run).empty());  // it may be no part of the run
  root.below("sub").list();
  CHECK(noted(root, run) == Lines{"sub/lost: " + nothing});
  fs::remove(run + "/good");
  CHECK(root.entry("good")->kind == EntryKind::other);
  CHECK(noted(root, run) == Lines{"good: was listed, and is no longer there"});
}

TEST_CASE("S22 a read that is only interrupted ends") {
  const TempDir directory;
  const std::string path = directory.write("f", "0123");
  std::atomic<std::uint64_t> counter = 0;
  const auto faults = std::make_shared<ReadErrors>();
  const FileSource source(
      path, [&] { return Descriptor(::open(path.c_str(), O_RDONLY)); }, counter, faults,
      [](int, void*, std::size_t, off_t) -> ssize_t {
        errno = EINTR;
        return -1;
      });
  CHECK_THROWS_WITH_AS(content_of(source), doctest::Contains("4 bytes cannot be read"), Error);
  CHECK(faults->take().size() == 1);
}

TEST_CASE("the component walk agrees with openat2") {
  const TempDir directory;
  directory.write("a/b/c", "x");
  fs::create_symlink("../b/c", directory.path("a/b/up"));
  fs::create_symlink("loop", directory.path("loop"));
  fs::create_symlink("/etc/passwd", directory.path("absolute"));
  fs::create_symlink("../..", directory.path("a/out"));
  fs::create_symlink("a", directory.path("l"));
  const Descriptor root(::open(directory.path().c_str(), O_PATH | O_DIRECTORY));
  for (const std::string path : {"a/b/c", "a/b/up", "loop", "absolute", "a/out", "l/b/c", "a/b",
                                 "none", "a/b/c/d", "../x", "a/../a/b/c", "a/out/x", "."}) {
    const Descriptor fast = open_beneath(root.get(), path, O_RDONLY);
    const int fast_errno = fast ? 0 : errno;
    const Descriptor slow = walk_beneath(root.get(), path, O_RDONLY);
    const int slow_errno = slow ? 0 : errno;
    CHECK_MESSAGE(fast_errno == slow_errno, path);
  }
}

TEST_CASE("FS11 loops of links end") {
  const TempDir directory;
  fs::create_symlink("b", directory.path("a"));
  fs::create_symlink("a", directory.path("b"));
  fs::create_directory(directory.path("d"));
  fs::create_symlink("..", directory.path("d/up"));
  const Root root(directory.path(), false);
  CHECK_THROWS_WITH_AS(root.file("a"), doctest::Contains("leads to itself"), Error);
  CHECK(root.list("", 100).size() == 4);
  directory.write("chain/end", "x");
  for (int i = 0; i < 100; ++i) {
    fs::create_symlink(i == 0 ? "end" : "l" + std::to_string(i - 1),
                       directory.path("chain/l" + std::to_string(i)));
  }
  CHECK(content_of(root.file("chain/l9")) == "x");
  CHECK_THROWS_WITH_AS(root.file("chain/l99"), doctest::Contains("too many links"), Error);
}

TEST_CASE("FS13 only regular files are read, at once") {
  const TempDir directory;
  REQUIRE(mkfifo(directory.path("fifo").c_str(), 0600) == 0);
  fs::create_directory(directory.path("dir"));
  const Root root(directory.path(), false);
  CHECK_THROWS_WITH_AS(root.file("fifo"), doctest::Contains("no regular file"), Error);
  CHECK_THROWS_WITH_AS(root.file("dir"), doctest::Contains("is a directory"), Error);
  const int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string path = directory.path("socket");
  REQUIRE(path.size() < sizeof name.sun_path);
  path.copy(name.sun_path, path.size());
  REQUIRE(bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0);
  CHECK_THROWS_AS(root.file("socket"), Error);
  close(listener);
  CHECK_THROWS_AS(Root(directory.path("fifo"), false), Error);
  CHECK_THROWS_AS(Root("/dev/zero", false), Error);
  CHECK_THROWS_AS(Root(directory.path("dir") + "/none", false), Error);
  CHECK_THROWS_AS(Root("", false), Error);
}

/// Faults that the next calls of a faulty pread make, in order.
std::vector<std::string> g_faults;

ssize_t faulty_pread(int fd, void* buffer, std::size_t count, off_t offset) {
  if (g_faults.empty()) return pread(fd, buffer, count, offset);
  const std::string fault = g_faults.front();
  g_faults.erase(g_faults.begin());
  if (fault == "short") return pread(fd, buffer, count / 2 + 1, offset);
  if (fault == "end") return 0;
  errno = fault == "EINTR" ? EINTR : fault == "EAGAIN" ? EAGAIN : EIO;
  return -1;
}

TEST_CASE("FS01 FS03 FS04 failed, short and interrupted reads") {
  const TempDir directory;
  const std::string path = directory.write("f", "0123456789abcdef");
  std::atomic<std::uint64_t> counter = 0;
  const FileSource source(
      path, [&] { return Descriptor(::open(path.c_str(), O_RDONLY)); }, counter, nullptr,
      &faulty_pread);
  g_faults = {"EINTR", "short", "EINTR", "short", "EIO"};
  CHECK(content_of(source) == "0123456789abcdef");
  CHECK(counter == 16);
  g_faults = {"EAGAIN", "short", "EAGAIN"};
  CHECK(content_of(source) == "0123456789abcdef");
  g_faults = {"short", "EIO", "EIO"};
  CHECK_THROWS_WITH_AS(content_of(source), doctest::Contains("f:0x9: 7 bytes cannot be read"),
                       Error);
  g_faults = {"short", "end"};
  CHECK_THROWS_WITH_AS(content_of(source), doctest::Contains("it shrank"), Error);
  CHECK(content_of(source) == "0123456789abcdef");
}

TEST_CASE("FS02 a file that cannot be opened or listed is named") {
  std::atomic<std::uint64_t> counter = 0;
  const auto failing = [] {
    errno = EIO;
    return Descriptor();
  };
  CHECK_THROWS_WITH_AS(FileSource("f", failing, counter), "f: cannot be opened: Input/output error",
                       Error);
  const TempDir directory;
  directory.write("a", "x");
  const Root root(directory.path(), false);
  CHECK_THROWS_WITH_AS(root.list("a"), doctest::Contains("Not a directory"), Error);
  CHECK_THROWS_WITH_AS(root.list("none"), doctest::Contains("No such file"), Error);
}

TEST_CASE("FS07 a file that vanished between listing and opening") {
  const TempDir directory;
  directory.write("a", "x");
  directory.write("b", "y");
  const Root root(directory.path(), false);
  CHECK(root.list().size() == 2);
  fs::remove(directory.path("a"));
  CHECK_THROWS_WITH_AS(root.file("a"), doctest::Contains("No such file"), Error);
  CHECK(content_of(root.file("b")) == "y");
}

TEST_CASE("FS05 FS06 files that changed are told at the end") {
  const TempDir directory;
  const std::vector<std::string> names = {"same", "grown", "written", "replaced", "gone"};
  for (const std::string& name : names) directory.write(name, "abc");
  const Root root(directory.path(), false);
  for (const std::string& name : names) root.file(name);
  CHECK(root.changed().empty());
  directory.write("grown", "abcdef");
  directory.write("written", "xyz");  // as long as before
  const timespec times[2] = {{1, 0}, {1, 0}};
  REQUIRE(utimensat(AT_FDCWD, directory.path("written").c_str(), times, 0) == 0);
  directory.write("new", "abc");
  fs::rename(directory.path("new"), directory.path("replaced"));
  fs::remove(directory.path("gone"));
  const std::vector<Finding> findings = root.changed();
  REQUIRE(findings.size() == 4);
  CHECK(findings[0].where->file == directory.path("gone"));
  CHECK(findings[1].message.find("from 3 to 6 bytes") != std::string::npos);
  CHECK(findings[2].message.find("replaced") != std::string::npos);
  CHECK(findings[3].message.find("it was modified") != std::string::npos);
  for (const Finding& finding : findings) CHECK(finding.incomplete);
}

TEST_CASE("FS05 S16 a time that was set back does not hide a change") {
  const TempDir directory;
  directory.write("f", "abc");
  const Root root(directory.path(), false);
  root.file("f");
  struct stat before{};
  REQUIRE(stat(directory.path("f").c_str(), &before) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // beyond a tick of the file system
  directory.write("f", "xyz");
  const timespec times[2] = {before.st_atim, before.st_mtim};
  REQUIRE(utimensat(AT_FDCWD, directory.path("f").c_str(), times, 0) == 0);
  const std::vector<Finding> findings = root.changed();
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message.ends_with("it was touched, and may have been modified"));
  CHECK(findings[0].incomplete);
}

TEST_CASE("FS06 a descriptor that is opened again must be the same file") {
  const TempDir directory;
  for (int i = 0; i < 100; ++i) directory.write("f" + std::to_string(i), std::to_string(i));
  const Root root(directory.path(), false);
  for (int i = 0; i < 100; ++i) root.file("f" + std::to_string(i));
  for (int i = 0; i < 100; ++i) {
    CHECK(content_of(root.file("f" + std::to_string(i))) == std::to_string(i));
  }
  int open_now = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator("/proc/self/fd")) ++open_now;
  CHECK(open_now < 90);
  directory.write("new", "0");
  fs::rename(directory.path("new"), directory.path("f0"));
  CHECK_THROWS_WITH_AS(content_of(root.file("f0")), doctest::Contains("was replaced"), Error);
}

TEST_CASE("FS19 without a descriptor left, files that wait are closed for the next") {
  const TempDir directory;
  for (int i = 0; i < 40; ++i) directory.write("f" + std::to_string(i), std::to_string(i));
  const Root root(directory.path(), false);
  root.file("f0");
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const int next = dup(0);
  REQUIRE(next >= 0);
  close(next);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(next) + 3;
  REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
  int good = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "f" + std::to_string(i);
    if (content_of(root.file(name)) == std::to_string(i) && root.entry(name)) ++good;
  }
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(good == 40);
}

TEST_CASE("one file read by several threads") {
  const TempDir directory;
  directory.write("f", std::string(1 << 20, 'z'));
  const Root root(directory.path(), false);
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      if (content_of(root.file("f")) == std::string(1 << 20, 'z')) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 4);
  CHECK(root.bytes_read() == 4 << 20);
}

}  // namespace
}  // namespace ttcheck::formats
