// SPDX-License-Identifier: Apache-2.0
#include "core/base/parallel.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/thread_count.hpp"

namespace ttcheck {
namespace {

using tests::ThreadCount;

TEST_CASE("every call is made once, and the exception of the lowest index is the one thrown") {
  struct Row {
    std::size_t count;
    std::set<std::size_t> throwing;
  };
  const std::vector<Row> rows = {{0, {}},          {1, {}},       {1, {0}},        {2, {}},
                                 {2, {1}},         {2, {0, 1}},   {100, {}},       {100, {0}},
                                 {100, {99}},      {100, {7, 3}}, {100, {98, 99}}, {3000, {}},
                                 {3000, {1, 2999}}};
  for (const int count : {1, 2, 3, 8}) {
    const ThreadCount few(count);
    for (const Row& row : rows) {
      INFO(count << " threads, " << row.count << " calls, " << row.throwing.size() << " throw");
      std::vector<std::atomic<int>> calls(row.count);
      std::optional<std::string> thrown;
      try {
        parallel_for(row.count, [&](std::size_t i) {
          ++calls[i];
          // The lowest index throws last where threads are free to let it.
          if (!row.throwing.empty() && i == *row.throwing.begin()) std::this_thread::yield();
          if (row.throwing.count(i) != 0) throw std::runtime_error(std::to_string(i));
        });
      } catch (const std::runtime_error& error) {
        thrown = error.what();
      }
      for (const std::atomic<int>& one : calls) REQUIRE(one == 1);
      CHECK(thrown == (row.throwing.empty()
                           ? std::nullopt
                           : std::optional(std::to_string(*row.throwing.begin()))));
    }
  }
}

/// Waits until `count` calls are here, so that as many threads are; false when they do not come.
bool meet(std::atomic<int>& here, int count) {
  ++here;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (here < count) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("as many threads as were asked for work at a time, each with a number of its own") {
  for (const int count : {2, 5, 3}) {
    const ThreadCount some(count);
    INFO(count);
    CHECK(threads() == count);
    CHECK(worker() == 0);
    std::atomic<int> here = 0;
    std::atomic<bool> met = true;
    std::mutex lock;
    std::set<int> workers;
    std::set<std::thread::id> ids;
    parallel_for(static_cast<std::size_t>(count), [&](std::size_t) {
      if (!meet(here, count)) met = false;
      const std::lock_guard hold(lock);
      workers.insert(worker());
      ids.insert(std::this_thread::get_id());
    });
    CHECK(met);
    CHECK(std::ssize(ids) == count);
    CHECK(std::ssize(workers) == count);
    CHECK(*workers.begin() == 0);
    CHECK(*workers.rbegin() == count - 1);
    CHECK(worker() == 0);
  }
}

TEST_CASE("a later exception of a lower index wins over an earlier one") {
  const ThreadCount two(2);
  std::atomic<bool> higher_threw = false;
  std::atomic<int> here = 0;
  bool met = true;
  std::string thrown;
  try {
    parallel_for(2, [&](std::size_t i) {
      if (!meet(here, 2)) met = false;
      if (i == 1) {
        higher_threw = true;
        throw std::runtime_error("1");
      }
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!higher_threw && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // while the other is kept
      throw std::runtime_error("0");
    });
  } catch (const std::runtime_error& error) {
    thrown = error.what();
  }
  CHECK(met);
  CHECK(thrown == "0");
}

TEST_CASE("one thread, and a call inside of another, go in ascending order") {
  const auto order = [](std::size_t count) {
    std::vector<std::size_t> seen;
    const auto self = std::this_thread::get_id();
    bool alone = true;
    parallel_for(count, [&](std::size_t i) {
      seen.push_back(i);
      alone = alone && std::this_thread::get_id() == self;
    });
    return alone ? seen : std::vector<std::size_t>{};
  };
  const std::vector<std::size_t> ascending = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  {
    const ThreadCount one(1);
    CHECK(order(10) == ascending);
  }
  const ThreadCount three(3);
  CHECK(order(1) == std::vector<std::size_t>{0});
  std::vector<std::vector<std::size_t>> inner(6);
  parallel_for(inner.size(), [&](std::size_t i) { inner[i] = order(10); });
  for (const auto& seen : inner) CHECK(seen == ascending);
}

TEST_CASE("none or fewer asked for: as many threads as there are processors for this process") {
  cpu_set_t allowed;
  REQUIRE(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  for (const int count : {7, 0, -3}) {
    const ThreadCount wanted(count);
    CHECK(threads() == (count > 0 ? count : CPU_COUNT(&allowed)));
  }
}

TEST_CASE("ranges of one size cover all, the last one shorter") {
  using Ranges = std::set<std::pair<std::size_t, std::size_t>>;
  for (const int count : {1, 4}) {
    const ThreadCount some(count);
    for (const auto& [all, expected] : std::vector<std::pair<std::size_t, Ranges>>{
             {0, {}},
             {1, {{0, 1}}},
             {1023, {{0, 1023}}},
             {1024, {{0, 1024}}},
             {1025, {{0, 1024}, {1024, 1025}}},
             {2048, {{0, 1024}, {1024, 2048}}},
             {2500, {{0, 1024}, {1024, 2048}, {2048, 2500}}}}) {
      INFO(all);
      std::mutex lock;
      Ranges seen;
      std::size_t calls = 0;
      parallel_ranges(all, [&](std::size_t begin, std::size_t end) {
        const std::lock_guard hold(lock);
        ++calls;
        seen.emplace(begin, end);
      });
      CHECK(seen == expected);
      CHECK(calls == expected.size());
    }
  }
}

/// The value that the process was started with, whatever became of it since.
std::optional<std::string> given(const std::string& variable) {
  std::ifstream file("/proc/self/environ", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
    const std::string entry = all.c_str() + at;
    if (entry.rfind(variable + "=", 0) == 0) return entry.substr(variable.size() + 1);
  }
  return std::nullopt;
}

TEST_CASE("threads that wait sleep, and programs started later do not hear of it") {
  const std::string policy = "OMP_WAIT_POLICY";
  const auto now = [&] {
    const char* value = std::getenv(policy.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  const auto before = given(policy);
  CHECK(now() == (before ? before : "passive"));
  restore_environment();
  CHECK(now() == before);
}

}  // namespace
}  // namespace ttcheck
