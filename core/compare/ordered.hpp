// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parallel work whose results are folded in index order, holding only those that wait for an
// earlier one.

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/parallel.hpp"

namespace ttcheck::compare {

/// Calls work(i) for each i in [0, count) on all threads, and fold(i, result) once for each, in
/// ascending order, one at a time.
template <class Work, class Fold>
void fold_in_order(std::size_t count, const Work& work, const Fold& fold) {
  using Result = decltype(work(std::size_t{0}));
  std::mutex lock;
  std::map<std::size_t, Result> waiting;
  std::size_t next = 0;
  parallel_for(count, [&](std::size_t i) {
    Result result = work(i);
    const std::lock_guard hold(lock);
    if (i != next) {
      waiting.emplace(i, std::move(result));
      return;
    }
    fold(i, std::move(result));
    ++next;
    for (auto at = waiting.begin(); at != waiting.end() && at->first == next; ++next) {
      fold(next, std::move(at->second));
      at = waiting.erase(at);
    }
  });
}

}  // namespace ttcheck::compare
