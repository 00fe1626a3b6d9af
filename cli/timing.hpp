// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long each part of a command took, for stderr (--timing).

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ttcheck::cli {

/// Wall time from its creation on, by part. Not for several threads.
class Timing {
 public:
  /// What is done from now on. A part that comes again, as each step's do, is added to.
  void begin(std::string_view part);

  /// One line: all of it, then each part in the order in which it first came.
  std::string text();

 private:
  using Clock = std::chrono::steady_clock;

  std::vector<std::pair<std::string, Clock::duration>> parts_;
  Clock::time_point start_ = Clock::now(), since_ = start_;
  std::size_t now_ = 0;  ///< of parts_, what is being done
};

}  // namespace ttcheck::cli
