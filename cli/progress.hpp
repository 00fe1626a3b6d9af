// SPDX-License-Identifier: Apache-2.0
#pragma once
// Talk on stderr while bytes are read: the size of the work first when it is long, then on a
// terminal a bar with rate and time left.

#include <chrono>
#include <cstdint>
#include <mutex>

#include "cli/options.hpp"

namespace ttcheck::cli {

/// Calls may come from several threads. Nothing is said about work that ends within a second.
class Progress {
 public:
  /// `when` automatic: only if stderr is a terminal; quiet runs never talk.
  explicit Progress(const Options& options);
  ~Progress();  ///< clears the bar's line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Shows how far one pass over the bytes has come.
  void operator()(std::uint64_t done, std::uint64_t total);

 private:
  using Clock = std::chrono::steady_clock;

  void draw(std::uint64_t done, std::uint64_t total, double seconds);

  bool wanted_, terminal_, announced_ = false, drawn_ = false;
  Clock::time_point start_ = Clock::now(), last_ = start_;
  std::mutex one_at_a_time_;
};

}  // namespace ttcheck::cli
