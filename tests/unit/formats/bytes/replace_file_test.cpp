// SPDX-License-Identifier: Apache-2.0
#include "formats/bytes/replace_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "core/base/error.hpp"

namespace ttcheck::formats {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;

  Folder() {
    std::string name = (fs::temp_directory_path() / "ttcheck-output-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }

  std::string operator/(const char* name) const { return (path / name).string(); }
  auto files() const { return std::distance(fs::directory_iterator(path), {}); }
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("FS20 a report that does not fit leaves the old one and no litter") {
  const Folder folder;
  replace_file(folder / "r", "old");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  CHECK_THROWS_AS(replace_file(folder / "r", std::string(5000, 'x')), Error);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(content(folder / "r") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("FS22 a report is not written through a link or over what is no file") {
  const Folder folder;
  replace_file(folder / "victim", "old");
  fs::create_symlink("victim", folder.path / "link");
  fs::create_directory(folder.path / "directory");
  CHECK_THROWS_AS(replace_file(folder / "link", "new"), Error);
  CHECK_THROWS_AS(replace_file(folder / "directory", "new"), Error);
  CHECK_THROWS_AS(replace_file(folder / "none/r", "new"), Error);
  CHECK(content(folder / "victim") == "old");
  CHECK(folder.files() == 3);
}

TEST_CASE("FS24 nobody but the owner may write a report, whatever the umask") {
  const Folder folder;
  for (const auto& [mask, mode] : {std::pair<mode_t, int>{0, 0644}, {022, 0644}, {077, 0600}}) {
    const mode_t before = ::umask(mask);
    replace_file(folder / "r", "text");
    ::umask(before);
    CHECK(static_cast<int>(fs::status(folder / "r").permissions()) == mode);
    fs::remove(folder / "r");
  }
}

TEST_CASE("S17 a report keeps the mode of the one before, and what killed runs left is removed") {
  const Folder folder;
  replace_file(folder / "r", "old");
  fs::permissions(folder / "r", fs::perms::owner_read | fs::perms::owner_write);
  for (const char* left : {"r.17-0.part", "r.4000000000-3.part", "s.17-0.part", "r.x.part"}) {
    replace_file(folder / left, "half");
  }
  const int held = ::open((folder / "r.99-1.part").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
  REQUIRE(::flock(held, LOCK_EX) == 0);  // another run's, at work
  replace_file(folder / "r", "new");
  CHECK(content(folder / "r") == "new");
  CHECK(static_cast<int>(fs::status(folder / "r").permissions()) == 0600);
  CHECK_FALSE(fs::exists(folder / "r.17-0.part"));
  CHECK_FALSE(fs::exists(folder / "r.4000000000-3.part"));
  CHECK(fs::exists(folder / "r.99-1.part"));
  CHECK(fs::exists(folder / "s.17-0.part"));
  CHECK(fs::exists(folder / "r.x.part"));
  ::close(held);
}

TEST_CASE("a report replaces the one before whole") {
  const Folder folder;
  replace_file(folder / "r", "a long one");
  replace_file(folder / "r", "short");
  CHECK(content(folder / "r") == "short");
  CHECK(folder.files() == 1);
}

}  // namespace
}  // namespace ttcheck::formats
