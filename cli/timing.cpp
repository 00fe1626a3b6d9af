// SPDX-License-Identifier: Apache-2.0
#include "cli/timing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace ttcheck::cli {
namespace {

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void Timing::begin(std::string_view part) {
  const Clock::time_point now = Clock::now();
  if (!parts_.empty()) parts_[now_].second += now - since_;
  since_ = now;
  const auto found = std::ranges::find(parts_, part, &decltype(parts_)::value_type::first);
  now_ = static_cast<std::size_t>(std::distance(parts_.begin(), found));
  if (found == parts_.end()) parts_.emplace_back(part, Clock::duration{});
}

std::string Timing::text() {
  if (!parts_.empty()) begin(parts_[now_].first);
  std::string line = fmt::format("ttcheck: {:.3f} s", seconds(since_ - start_));
  const char* between = ": ";
  for (const auto& [part, time] : parts_) {
    line += fmt::format("{}{} {:.3f}", between, part, seconds(time));
    between = ", ";
  }
  return line + "\n";
}

}  // namespace ttcheck::cli
