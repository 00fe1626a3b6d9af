// SPDX-License-Identifier: Apache-2.0
#include "core/base/until_exit.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace ttcheck {
namespace {

TEST_CASE("what is kept is there when its owner has let go of it") {
  auto first = std::make_shared<int>(1);
  auto second = std::make_shared<int>(2);
  const std::weak_ptr<int> seen_first = first;
  const std::weak_ptr<int> seen_second = second;
  keep_until_exit(std::move(first));
  keep_until_exit(std::move(second));
  keep_until_exit(nullptr);
  REQUIRE(seen_first.lock());
  REQUIRE(seen_second.lock());
  CHECK(*seen_first.lock() == 1);
  CHECK(*seen_second.lock() == 2);
}

/// Ends the process with an exit status of its own when it is destroyed.
struct Loud {
  Loud() = default;
  Loud(const Loud&) = delete;
  Loud& operator=(const Loud&) = delete;
  ~Loud() { ::_exit(3); }
};

TEST_CASE("the end of the process destroys nothing that was kept") {
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    keep_until_exit(std::make_shared<Loud>());
    std::exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace ttcheck
