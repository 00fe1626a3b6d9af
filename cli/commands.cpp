// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cli/answer.hpp"
#include "cli/bisect.hpp"
#include "cli/calibrate.hpp"
#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/diff.hpp"
#include "cli/explain.hpp"
#include "cli/info.hpp"
#include "cli/man.hpp"
#include "cli/manifest.hpp"
#include "cli/show.hpp"

namespace ttcheck::cli {
namespace {

constexpr Argument kRun[] = {{"RUN", "file or directory"}};
constexpr Argument kPair[] = {{"REFERENCE", "file or directory that is held to be right"},
                              {"CANDIDATE", "file or directory to compare with it"}};
constexpr Argument kRuns[] = {{"REFERENCE", "a run that is held to be right"},
                              {"RUN", "the same again, or with a perturbed input", true, true}};
constexpr Argument kTensor[] = {
    {"RUN", "file or directory; of two the one that is held to be right"},
    {"TENSOR", "its name, or a glob that one tensor matches"},
    {"CANDIDATE", "file or directory whose tensor to compare with it", false}};
constexpr Argument kCode[] = {{"CODE", "such as TT102 or partial-sum; none: list them", false}};
constexpr Argument kShell[] = {{"SHELL", "bash, zsh or fish"}};
constexpr Argument kPage[] = {
    {"PAGE", "a command, or: commands codes formats names reports rules"}};

constexpr FlagGroup kReading[] = {FlagGroup::input, FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kComparing[] = {FlagGroup::input, FlagGroup::judging, FlagGroup::repeating,
                                    FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kSearching[] = {FlagGroup::input, FlagGroup::judging, FlagGroup::searching,
                                    FlagGroup::report, FlagGroup::running};
constexpr FlagGroup kHashing[] = {FlagGroup::input, FlagGroup::hashing, FlagGroup::report,
                                  FlagGroup::running};

constexpr FlagGroup kShowing[] = {FlagGroup::input, FlagGroup::picking, FlagGroup::judging,
                                  FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kMeasuring[] = {FlagGroup::input, FlagGroup::measuring, FlagGroup::report,
                                    FlagGroup::running};

constexpr Command kCommands[] = {
    {"info", "what is this: format, mesh, steps, tensors, what could not be read", kRun, kReading,
     false, [](const Options& options) { return answer(options, info); }},
    {"diff", "compare two runs, steps, checkpoints or files", kPair, kComparing, false,
     [](const Options& options) { return answer(options, diff); }},
    {"bisect", "the first bad step, or the first bad op of a step, reading little", kPair,
     kSearching, false, [](const Options& options) { return answer(options, bisect); }},
    {"show", "one tensor: its values, or where inside it two runs differ", kTensor, kShowing, false,
     [](const Options& options) { return answer(options, show); }},
    {"manifest", "hashes of every tensor, written down or verified", kRun, kHashing, false,
     [](const Options& options) { return answer(options, manifest); }},
    {"calibrate", "how far correct runs are apart, as a limits file", kRuns, kMeasuring, false,
     [](const Options& options) { return answer(options, calibrate); }},
    {"explain",
     "what a finding code means, a real case, how to confirm and fix",
     kCode,
     {},
     false,
     explain},
    {"completion", "completions for a shell, on stdout", kShell, {}, false, completion},
    {"man", "generated parts of the man pages", kPage, {}, true, man},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

const Command* command_named(std::string_view name) {
  const auto* row = std::ranges::find(kCommands, name, &Command::name);
  return row == std::end(kCommands) ? nullptr : row;
}

std::vector<const Flag*> flags_of(const Command& command) {
  std::vector<const Flag*> taken;
  for (const Flag& flag : flags()) {
    if (std::ranges::find(command.groups, flag.group) != command.groups.end()) {
      taken.push_back(&flag);
    }
  }
  return taken;
}

}  // namespace ttcheck::cli
