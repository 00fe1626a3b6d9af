// SPDX-License-Identifier: Apache-2.0
#include "cli/diff.hpp"

#include <fmt/format.h>

#include <vector>

#include "cli/diff_options.hpp"
#include "cli/open.hpp"
#include "cli/usage.hpp"
#include "core/base/parallel.hpp"
#include "core/base/wider_glob.hpp"
#include "core/diff/diff.hpp"
#include "core/repeats/ensembles.hpp"
#include "core/verdict/findings.hpp"

namespace ttcheck::cli {
namespace {

/// `diff --ensemble A... -- B...`.
Verdict diff_groups(const Options& options) {
  const std::size_t a = options.words.size(), b = options.others.size();
  if (a < 2 || b < 2 || a + b > repeats::kMostInGroups) {
    throw Usage(
        fmt::format("--ensemble: expected A... -- B... with 2 runs or more in each group and "
                    "at most {} in all, got {} and {}",
                    repeats::kMostInGroups, a, b));
  }
  if (options.limits.mode != limits::LimitOptions::Mode::automatic ||
      !options.limits.rtol.empty() || !options.limits.atol.empty() || !options.base.empty()) {
    throw Usage("--ensemble: the runs are the limit; no --limits, --base, --rtol or --atol");
  }
  const diff::DiffOptions how = diff_options(options);
  std::vector<std::string> paths = options.words;
  paths.insert(paths.end(), options.others.begin(), options.others.end());
  const std::vector<Run> runs = open_all(paths, a, options);
  return repeats::diff_ensembles(runs, a, how);
}

/// Where nothing was compared, what an --include may have meant.
void say_wider(const Options& options, Verdict& verdict) {
  for (const std::string& glob : options.include) {
    const std::string wider = wider_glob(glob);
    if (wider.empty()) continue;
    verdict.findings.push_back(
        verdict::note(Code::missing, {},
                      fmt::format("--include '{}' matches nothing{}", glob, wider_words(wider))));
    verdict.findings.back().severity = Severity::warning;
  }
}

}  // namespace

Verdict diff(const Options& options) {
  set_threads(options.threads);
  if (options.ensemble) return diff_groups(options);
  diff::DiffOptions how = diff_options(options);
  const auto [reference, candidate] = open_both(options.words.at(0), options.words.at(1), options);
  how.ends = true;
  Verdict verdict = diff::diff(reference, candidate, how);
  if (verdict.coverage.paired == 0) say_wider(options, verdict);
  return verdict;
}

}  // namespace ttcheck::cli
