// SPDX-License-Identifier: Apache-2.0
#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/output.hpp"
#include "formats/own/answer.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {
namespace {

/// Whether rows of equal tensors would be listed, which only --all keeps.
bool wants_more(const Options& options, const Verdict& verdict) {
  const bool listed = options.all || std::ranges::any_of(options.outputs, [](const auto& target) {
                        return target.report->draws;
                      });
  const auto rows = static_cast<std::int64_t>(verdict.tensors.size());
  return listed && rows < verdict.coverage.paired;
}

}  // namespace

Verdict report(const Options& options) {
  Verdict verdict = formats::read_answer(options.words.at(0));
  if (wants_more(options, verdict)) {
    write_stderr(
        "ttcheck: rows of equal tensors and pictures of what lies inside one are not in a report "
        "that was kept without --all\n");
  }
  return verdict;
}

}  // namespace ttcheck::cli
