// SPDX-License-Identifier: Apache-2.0
#include "core/compare/ordered.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/thread_count.hpp"

namespace ttcheck::compare {
namespace {

using tests::ThreadCount;

std::vector<std::size_t> ascending(std::size_t count) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

TEST_CASE("results are folded once each, in order, one at a time") {
  for (const int threads : {1, 2, 4}) {
    const ThreadCount some(threads);
    for (const std::size_t count : {0U, 1U, 2U, 3U, 500U}) {
      INFO(threads << " threads, " << count);
      std::vector<std::size_t> folded;
      std::vector<std::size_t> results;
      std::atomic<int> folding = 0;
      bool alone = true;
      fold_in_order(
          count,
          [](std::size_t i) {
            if (i % 7 == 0) std::this_thread::yield();
            return std::make_unique<std::size_t>(10 * i);  // moved, never copied
          },
          [&](std::size_t i, std::unique_ptr<std::size_t> result) {
            alone = alone && ++folding == 1;
            folded.push_back(i);
            results.push_back(*result);
            --folding;
          });
      CHECK(alone);
      CHECK(folded == ascending(count));
      REQUIRE(results.size() == count);
      for (std::size_t i = 0; i < count; ++i) REQUIRE(results[i] == 10 * i);
    }
  }
}

TEST_CASE("results that are ready early wait for the first one") {
  const ThreadCount two(2);
  constexpr std::size_t kCount = 20;
  std::atomic<std::size_t> others = 0;
  std::atomic<bool> folded_early = false;
  std::vector<std::size_t> folded;
  bool in_time = true;
  fold_in_order(
      kCount,
      [&](std::size_t i) {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        if (i > 0) ++others;
        while (i == 0 && others < kCount - 1 && in_time) {
          in_time = std::chrono::steady_clock::now() < end;
          std::this_thread::yield();
        }
        return i;
      },
      [&](std::size_t i, std::size_t result) {
        if (others < kCount - 1) folded_early = true;
        CHECK(i == result);
        folded.push_back(i);
      });
  CHECK(in_time);
  CHECK_FALSE(folded_early);
  CHECK(folded == ascending(kCount));
}

TEST_CASE("an exception is passed on, and what comes after its place is not folded") {
  for (const int threads : {1, 4}) {
    const ThreadCount some(threads);
    std::vector<std::size_t> folded;
    std::string said;
    std::atomic<int> worked = 0;
    try {
      fold_in_order(
          50,
          [&](std::size_t i) {
            ++worked;
            if (i == 20 || i == 30) throw std::runtime_error(std::to_string(i));
            return i;
          },
          [&](std::size_t i, std::size_t) { folded.push_back(i); });
    } catch (const std::runtime_error& error) {
      said = error.what();
    }
    CHECK(said == "20");
    CHECK(worked == 50);
    CHECK(folded == ascending(20));
  }
}

}  // namespace
}  // namespace ttcheck::compare
