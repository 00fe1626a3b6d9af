// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.hpp"
#include "reports/words.hpp"

namespace ttcheck::cli {
namespace {

using std::chrono::duration;
constexpr duration<double> kQuietStart{1.0};
constexpr duration<double> kBetweenBars{0.2};
constexpr duration<double> kBetweenLines{30.0};  // where stderr is a file

std::string time_words(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

Progress::Progress(const Options& options)
    : wanted_(options.progress == When::always), terminal_(::isatty(STDERR_FILENO) == 1) {
  if (options.progress == When::automatic) wanted_ = terminal_ && options.verbose >= 0;
}

Progress::~Progress() {
  if (drawn_ && terminal_) write_stderr("\r\x1b[K");
}

void Progress::operator()(std::uint64_t done, std::uint64_t total) {
  if (!wanted_) return;
  const std::unique_lock lock(one_at_a_time_, std::try_to_lock);
  if (!lock) return;  // another thread is drawing; this state is no news
  const auto now = Clock::now();
  const auto pause = !announced_ ? kQuietStart : terminal_ ? kBetweenBars : kBetweenLines;
  if (now - last_ < pause) return;
  last_ = now;
  draw(done, total, duration<double>(now - start_).count());
}

void Progress::draw(std::uint64_t done, std::uint64_t total, double seconds) {
  const double rate = static_cast<double>(done) / seconds;
  const double left = rate > 0 ? static_cast<double>(total - std::min(done, total)) / rate : 0;
  if (!announced_) {
    announced_ = true;
    write_stderr(fmt::format("ttcheck: {} to read, about {} at {}/s\n", reports::short_bytes(total),
                             time_words(left + seconds),
                             reports::short_bytes(static_cast<std::uint64_t>(rate))));
  }
  constexpr std::uint64_t kCells = 30;
  const std::uint64_t filled = total == 0 ? kCells : std::min(done, total) / (total / kCells + 1);
  const std::string line =
      fmt::format("[{:#<{}}{:.<{}}] {} of {}, {}/s, {} left", "", filled, "", kCells - filled,
                  reports::short_bytes(done), reports::short_bytes(total),
                  reports::short_bytes(static_cast<std::uint64_t>(rate)), time_words(left));
  write_stderr(terminal_ ? "\r\x1b[K" + line : "ttcheck: " + line + "\n");
  drawn_ = true;
}

}  // namespace ttcheck::cli
