// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <functional>

namespace ttcheck::bench {

/// Time on the processor, so that other programs on the machine count for little.
inline double seconds(const std::function<void()>& body) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double start = now();
  body();
  return now() - start;
}

}  // namespace ttcheck::bench
