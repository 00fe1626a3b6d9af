// SPDX-License-Identifier: Apache-2.0
#pragma once
// What was typed, checked for form, before anything is opened.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/timing.hpp"
#include "core/bisect/is_bad.hpp"
#include "core/limits/limits.hpp"
#include "core/model/layout.hpp"
#include "core/model/step.hpp"
#include "reports/report.hpp"

namespace ttcheck::cli {

enum class Side : std::uint8_t { both, reference, candidate };
enum class When : std::uint8_t { automatic, always, never };
enum class Over : std::uint8_t { automatic, steps, ops };
enum class FailOn : std::uint8_t { noise, warning, error, never };

/// A file that is for one side, or for both.
struct SideFile {
  Side side = Side::both;
  std::string path;
  std::shared_ptr<const Layout> layout{};  ///< what a layout says, once it was read
};

struct OutputTarget {
  const reports::Report* report = nullptr;
  std::string path;  ///< "-": stdout
};

struct Options {
  std::string command;
  std::vector<std::string> words;  ///< arguments: RUN; REFERENCE CANDIDATE; CODE; SHELL
  std::vector<std::string> argv;   ///< as the JSON contract wants it

  bool ensemble = false;            ///< --ensemble
  std::vector<std::string> others;  ///< with it, the runs after `--`

  std::vector<SideFile> layouts;  ///< --layout
  std::vector<std::string> maps;  ///< --map, paths
  std::vector<std::string> include, exclude;
  std::optional<StepRange> steps;  ///< --step
  bool follow_links = false;

  limits::LimitOptions limits;  ///< --rtol --atol --limits
  std::string limits_file;      ///< --limits FILE, a path; empty: none
  std::string base;             ///< --base, a path; empty: none
  std::string known;            ///< --known, a path; empty: none
  std::string limits_out;       ///< -o, a path; empty: none
  bool exact_sums = false;
  FailOn fail_on = FailOn::error;

  Over over = Over::automatic;                                ///< --over
  bisect::Predicate predicate = bisect::Predicate::diverged;  ///< --bad
  std::string run;                               ///< --run, a command of the shell; empty: none
  std::string log, replay;                       ///< paths; empty: none
  std::string phase;                             ///< of `show`, --phase; empty: any
  std::optional<std::int64_t> microbatch, call;  ///< of `show`
  std::vector<SideFile> manifests;               ///< --manifest: of one side each
  std::string write, verify;  ///< of `manifest`, paths; empty: none; `write` may be "-", stdout

  std::vector<OutputTarget> outputs;  ///< --out and --json, in the order typed
  int top = 10;
  int rows = 3;  ///< of the short screen
  bool all = false;
  bool redact = false;
  bool screen = true;  ///< false: stdout has another text
  bool show_map = false;
  int verbose = 0;  ///< -1 with -q; counts -v
  When color = When::automatic;
  When progress = When::automatic;
  std::shared_ptr<Timing> timing;  ///< --timing; null: not asked for

  int threads = 0;               ///< 0: as many as the machine has
  std::uint64_t max_memory = 0;  ///< bytes; 0: no limit of ours
};

}  // namespace ttcheck::cli
