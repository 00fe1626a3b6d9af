// SPDX-License-Identifier: Apache-2.0
#pragma once
// A number of threads for one test.

#include "core/base/parallel.hpp"

namespace ttcheck::tests {

/// So many threads while it lives, then as many as the machine has.
struct ThreadCount {
  explicit ThreadCount(int count) { set_threads(count); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
  ~ThreadCount() { set_threads(0); }
};

}  // namespace ttcheck::tests
