// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "cli/diff_options.hpp"
#include "cli/kept_inputs.hpp"
#include "cli/open.hpp"
#include "cli/usage.hpp"
#include "core/base/parallel.hpp"
#include "core/base/version.hpp"
#include "core/repeats/calibrate.hpp"

namespace ttcheck::cli {

Verdict calibrate(const Options& options) {
  if (options.words.size() > repeats::kMostCalibrated) {
    throw Usage(fmt::format("calibrate: at most {} runs, got {}", repeats::kMostCalibrated,
                            options.words.size()));
  }
  set_threads(options.threads);
  const diff::DiffOptions how = diff_options(options);
  const std::vector<Run> runs = open_all(options.words, 1, options);
  repeats::Calibrated made = repeats::calibrate(runs, how, fmt::format("ttcheck {}", version()));
  if (made.sound && !options.limits_out.empty()) {
    write_output(options, options.limits_out, limits::print_limits(made.limits));
    made.verdict.calibration->file = options.limits_out;
  }
  return std::move(made.verdict);
}

}  // namespace ttcheck::cli
