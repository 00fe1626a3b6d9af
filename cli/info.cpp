// SPDX-License-Identifier: Apache-2.0
#include "cli/info.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "cli/open.hpp"
#include "cli/output.hpp"
#include "core/base/parallel.hpp"
#include "core/base/until_exit.hpp"
#include "core/diff/steps.hpp"
#include "core/show/inventory.hpp"
#include "formats/sandbox/confine.hpp"

namespace ttcheck::cli {
namespace {

void say_confinement() {
  const auto [files, calls] = formats::confined();
  write_stderr(fmt::format("ttcheck: confined by {}\n",
                           files && calls ? "Landlock (files) and seccomp (system calls)"
                           : files        ? "Landlock (files) alone"
                           : calls        ? "seccomp (system calls) alone"
                                          : "nothing"));
}

}  // namespace

Verdict info(const Options& options) {
  set_threads(options.threads);
  if (options.verbose > 0) say_confinement();
  const auto opened = std::make_shared<Run>(open_side(options.words.at(0), Side::both, options));
  keep_until_exit(opened);
  const Run& run = *opened;
  diff::require_steps(std::array{diff::NamedRun{run, "run"}}, options.steps);
  Verdict verdict = show::inventory(run, options.steps, options.all);
  verdict.argv = options.argv;
  return verdict;
}

}  // namespace ttcheck::cli
