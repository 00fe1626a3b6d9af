// A directory of several steps: `checkpoint-N`, `checkpoint_N`, `step-N`, `iter_N`, `global_stepN`,
// a plain number and the like. Each step is opened by the auction when it is asked for.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/base/checked.hpp"
#include "formats/auction.hpp"
#include "formats/beside.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/compose.hpp"
#include "formats/file_steps.hpp"
#include "formats/rng_facts.hpp"
#include "formats/rows.hpp"
#include "formats/stale_copy.hpp"
#include "formats/steps.hpp"
#include "formats/tracker.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTrackers[] = {"latest", "latest_checkpointed_iteration.txt",
                                          "latest_universal"};
/// What DeepSpeed puts beside its steps (deepspeed/runtime/engine.py `_copy_recovery_script`).
constexpr std::string_view kScripts[] = {"zero_to_fp32.py", "zero_to_torch.py"};

/// Steps by number; several entries may claim the same.
std::map<std::int64_t, std::vector<std::string>> steps_in(const Root& root) {
  std::map<std::int64_t, std::vector<std::string>> steps;
  for (const Entry& entry : root.list()) {
    if (entry.kind == EntryKind::other) continue;
    const auto step = step_of_name(entry.path, entry.kind == EntryKind::directory);
    if (step) steps[*step].push_back(entry.path);
  }
  return steps;
}

int bid_series(const Probe& probe) {
  if (!probe.file.empty()) return 0;
  const bool any = std::any_of(probe.names.begin(), probe.names.end(), [](const auto& name) {
    return step_of_name(name, true) || step_of_name(name, false);
  });
  return any && !steps_in(probe.root).empty() ? 24 : 0;
}

/// The steps, and those of them that were opened.
struct Series {
  const Root* root = nullptr;
  OpenOptions options;
  int depth = 0;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> paths;
  std::uint64_t unclaimed = 0;  ///< beside the steps; told with the newest one
  std::mutex mutex;
  std::map<std::size_t, Run> opened;

  Run& step(std::size_t i) {
    const std::lock_guard lock(mutex);
    const auto known = opened.find(i);
    if (known != opened.end()) return known->second;
    return opened.emplace(i, open_below(*root, paths[i], options, depth)).first->second;
  }

  State state(std::size_t i) {
    State state = only_state(step(i));
    take_rng(state);
    find_copied(i, state);
    state.step = numbers[i];
    if (i + 1 == numbers.size()) {
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, unclaimed);
    }
    for (Finding& finding : state.findings) finding.step = numbers[i];
    return state;
  }

  /// A state that counts the step of another folder may be that folder's: one copy, not a mixture.
  void find_copied(std::size_t i, State& state) const {
    for (const double stated : stated_steps(state.facts)) {
      const auto other = std::ranges::find_if(
          numbers, [&](std::int64_t number) { return static_cast<double>(number) == stated; });
      if (other == numbers.end() || *other == numbers[i]) continue;
      const auto at = static_cast<std::size_t>(other - numbers.begin());
      try {
        auto copied = stale_copy(*root, {numbers[i], paths[i]}, {*other, paths[at]});
        if (!copied) continue;
        std::erase_if(state.findings,
                      [](const Finding& one) { return one.code == Code::mixed_step; });
        state.findings.push_back(std::move(*copied));
        return;
      } catch (const Error&) {
        continue;  // said where the file is read
      }
    }
  }
};

void read_tracker(const Root& root, std::string_view name, const Series& series, Run& run) {
  if (!root.entry(name)) return;
  try {
    Fact tracker = read_tracker_file(root, name);
    const std::string text = std::get<std::string>(tracker.value);
    const Where where = tracker.where;
    run.facts.push_back(std::move(tracker));
    if (text.empty() || text.find('/') != std::string::npos ||
        text.find('\n') != std::string::npos) {
      run.findings.push_back(odd(where, "the tracker names no step"));
      return;
    }
    const auto named = step_of_name(text, true);
    if (!named && !root.entry(text)) {
      run.findings.push_back(
          odd(where, fmt::format("the tracker names {}, which is not there", text), Code::torn));
      return;
    }
    const auto step = named ? named : trailing_number(text);
    const auto& numbers = series.numbers;
    if (!step || std::binary_search(numbers.begin(), numbers.end(), *step)) return;
    Finding finding = found(Code::torn,
                            fmt::format("the tracker names step {}, which is not there; the newest "
                                        "is {}",
                                        *step, numbers.back()),
                            where);
    finding.severity = Severity::warning;
    run.findings.push_back(std::move(finding));
  } catch (const Error& error) {
    run.findings.push_back(unreadable(error));
  }
}

/// What else lies there: states with a name instead of a number, and what no format knows.
void account(const Probe& probe, Series& series, Run& run) {
  const Beside others = beside(probe, [](const Entry& entry) {
    return step_of_name(entry.path, entry.kind == EntryKind::directory) ||
           std::ranges::find(kTrackers, entry.path) != std::end(kTrackers) ||
           std::ranges::find(kScripts, entry.path) != std::end(kScripts);
  });
  series.unclaimed = others.rest_bytes;
  run.named = named_states(others);
  std::ranges::move(rest_beside(others, probe.root), std::back_inserter(run.findings));
}

/// Format and mesh of the newest step that can be opened; throws the newest one's error.
void describe(Series& series, Run& run) {
  std::optional<Error> first;
  for (std::size_t i = series.paths.size(); i-- > 0;) {
    try {
      const Run& step = series.step(i);
      run.format = step.format;
      run.mesh = step.mesh;
      run.trace = step.trace;
      return;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  throw first->saying("none of its steps can be read: " + first->message());
}

Run open_series(const Probe& probe, const OpenOptions& options) {
  auto series = std::make_shared<Series>();
  series->root = &probe.root;
  series->options = options;
  series->depth = probe.depth;
  Run run;
  for (const auto& [number, paths] : steps_in(probe.root)) {
    if (paths.size() > 1) {
      throw Error(fmt::format("both {} and {} are step {}: name the one that is meant", paths[0],
                              paths[1], number),
                  {probe.root.given(), {}, {}});
    }
    series->numbers.push_back(number);
    series->paths.push_back(paths[0]);
    run.steps.emplace_back(number);
  }
  describe(*series, run);
  account(probe, *series, run);
  for (const std::string_view name : kTrackers) read_tracker(probe.root, name, *series, run);
  Series* raw = series.get();
  run.open = [raw](std::size_t i) { return raw->state(i); };
  run.close = [raw] {
    std::vector<Finding> findings = raw->root->changed();
    const std::lock_guard lock(raw->mutex);
    for (auto& [i, step] : raw->opened) {
      for (Finding& finding : step.close()) findings.push_back(std::move(finding));
    }
    return findings;
  };
  run.owner = series;
  return run;
}

}  // namespace

const Format kSeries = {"series", "directory of several steps", bid_series, open_series};

}  // namespace ttcheck::formats
