// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

// OpenMP's threads spin for milliseconds while they wait for work, and on a machine that has other
// work, too, they take from each other what they wait for: 600 small steps last 15 s instead of 1.
// The library has no call for another policy; it reads the environment as the program starts. Where
// it is part of the program (cmake/Packages.cmake), this constructor runs before its own.

namespace ttcheck {
namespace {

constexpr const char* kPolicy = "OMP_WAIT_POLICY";
bool is_policy_ours = false;

#ifdef __GNUC__
[[gnu::constructor(101)]] void sleep_while_waiting() {
  is_policy_ours = std::getenv(kPolicy) == nullptr && ::setenv(kPolicy, "passive", 0) == 0;
}
#endif

int wanted = 0;

/// How many of `count` threads the system lets this process have: OpenMP's library ends the program
/// when it cannot make one. Asked once for each larger count, by making them.
int obtainable(int count) {
  static std::mutex one_at_a_time;
  static int tried, got;  // nothing yet
  const std::lock_guard hold(one_at_a_time);
  if (count <= tried) return std::min(count, got);
  std::atomic<bool> done = false;
  std::vector<std::thread> made;
  for (bool more = true; more && std::ssize(made) + 1 < count;) {
    try {
      made.emplace_back([&] { done.wait(false); });
    } catch (const std::system_error&) {
      more = false;
    }
  }
  done = true;
  done.notify_all();
  for (std::thread& thread : made) thread.join();
  tried = count;
  got = static_cast<int>(made.size()) + 1;
  return std::min(count, got);
}

}  // namespace

void restore_environment() {
  if (is_policy_ours) ::unsetenv(kPolicy);
}

void set_threads(int count) { wanted = count; }

int threads() {
  static const int processors = omp_get_num_procs();  // asks the system; small pairs ask for each
  return wanted > 0 ? wanted : processors;
}

int worker() { return omp_get_thread_num(); }

void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  std::mutex lock;
  std::exception_ptr first;
  std::size_t first_index = std::numeric_limits<std::size_t>::max();
  const auto guarded = [&](std::size_t i) {
    try {
      body(i);
    } catch (...) {
      const std::lock_guard hold(lock);
      if (i < first_index) {
        first_index = i;
        first = std::current_exception();
      }
    }
  };
  const bool serial = count <= 1 || omp_in_parallel() != 0;
  const int team = serial ? 1 : obtainable(threads());
  if (team == 1) {
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
    for (std::size_t i = 0; i < count; ++i) guarded(i);
  }
  if (first) std::rethrow_exception(first);
}

void parallel_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& body) {
  constexpr std::size_t kRange = 1024;
  parallel_for((count + kRange - 1) / kRange,
               [&](std::size_t i) { body(i * kRange, std::min(count, (i + 1) * kRange)); });
}

}  // namespace ttcheck
