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
#include "cli/report.hpp"
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
constexpr Argument kFile[] = {{"FILE", "a report that diff, bisect or manifest kept as JSON"}};
constexpr Argument kCode[] = {
    {"CODE", "such as TT102 or partial-sum, or a word of the screen; none: list codes", false}};
constexpr Argument kShell[] = {{"SHELL", "bash, zsh or fish"}};
constexpr Argument kPage[] = {
    {"PAGE", "a command, or: commands codes formats names reports rules"}};

constexpr FlagGroup kRendering[] = {FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kReading[] = {FlagGroup::input, FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kComparing[] = {FlagGroup::input,     FlagGroup::judging, FlagGroup::excusing,
                                    FlagGroup::repeating, FlagGroup::report,  FlagGroup::running};

constexpr FlagGroup kSearching[] = {FlagGroup::input, FlagGroup::judging, FlagGroup::searching,
                                    FlagGroup::report, FlagGroup::running};
constexpr FlagGroup kHashing[] = {FlagGroup::input, FlagGroup::hashing, FlagGroup::report,
                                  FlagGroup::running};

constexpr FlagGroup kShowing[] = {FlagGroup::input, FlagGroup::picking, FlagGroup::judging,
                                  FlagGroup::report, FlagGroup::running};

constexpr FlagGroup kMeasuring[] = {FlagGroup::input, FlagGroup::measuring, FlagGroup::report,
                                    FlagGroup::running};

constexpr Example kInfoExamples[] = {{"ttcheck info checkpoint/", "what is in it"},
                                     {"ttcheck info run/ --all", "each tensor with its shape"}};
constexpr Example kDiffExamples[] = {
    {"ttcheck diff hub/ converted/", "is it the same model?"},
    {"ttcheck diff golden/ tonight/ -q --out html=diff.html", "a page to pass on"},
    {"ttcheck diff tp1/ tp8/ -v", "every finding, limits, what was compared"},
    {"ttcheck diff a/step-100 b/step-100 --base a/step-0", "by the ways since a common start"}};
constexpr Example kBisectExamples[] = {
    {"ttcheck bisect golden/ tonight/", "the first bad step, or op of a trace"},
    {"ttcheck bisect a/ b/ --run './loss.sh'", "by a predicate of your own"}};
constexpr Example kShowExamples[] = {
    {"ttcheck show hub/ lm_head.weight", "its values"},
    {"ttcheck show hub/ '**.1.mlp.up_proj.weight' tp8/", "where inside it the two differ"}};
constexpr Example kManifestExamples[] = {
    {"ttcheck manifest run/ > run.jsonl", "before it is copied"},
    {"ttcheck manifest copy/ --verify run.jsonl", "and after"}};
constexpr Example kCalibrateExamples[] = {
    {"ttcheck calibrate run1/ run2/ run3/ -o limits.toml", "from repeats of one run"},
    {"ttcheck diff golden/ tonight/ --limits limits.toml", "held to what they showed"}};
constexpr Example kReportExamples[] = {
    {"ttcheck report diff.json", "the screen of a diff of last night"},
    {"ttcheck report diff.json --redact --out html=page.html", "to pass on outside"}};
constexpr Example kExplainExamples[] = {{"ttcheck explain TT102", "one code"},
                                        {"ttcheck explain partial-sum", "by its name"},
                                        {"ttcheck explain 'off by'", "a word of the screen"}};
constexpr Example kCompletionExamples[] = {{"source <(ttcheck completion bash)", "in this shell"}};

constexpr Command kCommands[] = {
    {"info", "what is this: format, mesh, steps, tensors, what could not be read", kRun, kReading,
     kInfoExamples, false, [](const Options& options) { return answer(options, info); }},
    {"diff", "compare two runs, steps, checkpoints or files", kPair, kComparing, kDiffExamples,
     false, [](const Options& options) { return answer(options, diff); }},
    {"bisect", "the first bad step, or the first bad op of a step, reading little", kPair,
     kSearching, kBisectExamples, false,
     [](const Options& options) { return answer(options, bisect); }},
    {"show", "one tensor: its values, or where inside it two runs differ", kTensor, kShowing,
     kShowExamples, false, [](const Options& options) { return answer(options, show); }},
    {"manifest", "hashes of every tensor, written down or verified", kRun, kHashing,
     kManifestExamples, false,
     [](const Options& options) { return answer(manifest_options(options), manifest); }},
    {"calibrate", "how far correct runs are apart, as a limits file", kRuns, kMeasuring,
     kCalibrateExamples, false, [](const Options& options) { return answer(options, calibrate); }},
    {"report", "render a kept JSON report again, as any other", kFile, kRendering, kReportExamples,
     false, [](const Options& options) { return answer(options, report); }},
    {"explain",
     "what a finding code means, a real case, how to confirm and fix",
     kCode,
     {},
     kExplainExamples,
     false,
     explain},
    {"completion",
     "completions for a shell, on stdout",
     kShell,
     {},
     kCompletionExamples,
     false,
     completion},
    {"man", "generated parts of the man pages", kPage, {}, {}, true, man},
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
