// SPDX-License-Identifier: Apache-2.0
// A directory of several steps: `checkpoint-N`, `epoch_N.pt` and the like (series_names). Each step
// is opened by the auction when it is asked for. What else lies there, a model of the directory
// itself among it, are states with names of their own.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <optional>

#include "core/base/checked.hpp"
#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/parts.hpp"
#include "formats/folder/series_names.hpp"
#include "formats/folder/stale_copy.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/folder/tracker.hpp"
#include "formats/hf/deepspeed_folder.hpp"
#include "formats/ranks/file_steps.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/rng.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTrackers[] = {"latest", "latest_checkpointed_iteration.txt",
                                          "latest_universal"};
/// What DeepSpeed puts beside its steps (deepspeed/runtime/engine.py `_copy_recovery_script`).
constexpr std::string_view kScripts[] = {"zero_to_fp32.py", "zero_to_torch.py"};

/// What the model in the directory itself is called, beside the steps.
constexpr std::string_view kModelHere = "root";

using Shapes = std::vector<std::pair<std::string, Shape>>;

/// Names and shapes of a state, sorted; none where not all of it can be read.
std::optional<Shapes> shapes_in(const Probe& probe, const std::string& path) {
  try {
    const auto root = std::make_shared<const Root>(probe.root.glance(path));
    Run run = open_root(root, {}, probe.depth + 1);
    const State state = only_state(run);
    if (std::ranges::any_of(state.findings, &Finding::incomplete)) return std::nullopt;
    Shapes shapes;
    for (const Record& record : state.records) {
      shapes.emplace_back(record.identity.name, record.shape);
    }
    std::ranges::sort(shapes);
    return shapes;
  } catch (const Error&) {
    return std::nullopt;  // said where the step is read
  }
}

/// Names of steps that nothing but a number tells must hold the same tensors, which have names of
/// their own, in the first step and the newest; of these one may be damaged.
bool are_alike(const Probe& probe, const SeriesNames& names) {
  const std::vector<StepEntry>& first = names.steps.begin()->second;
  const std::vector<StepEntry>& newest = names.steps.rbegin()->second;
  for (const StepEntry& entry : first) {
    const auto other = std::ranges::find(newest, entry.part, &StepEntry::part);
    if (other == newest.end()) continue;
    const auto here = shapes_in(probe, entry.path);
    const auto there = shapes_in(probe, other->path);
    if (!here && !there) return false;
    const Shapes& one = here ? *here : *there;
    if (one.empty() || one.front().first.empty() || (here && there && *here != *there))
      return false;
  }
  return true;
}

/// A model as Hugging Face's libraries write one lies in the directory itself.
bool holds_model(const Probe& probe) {
  return std::ranges::any_of(std::to_array({&kHf, &kHfTrainer, &kHfAccelerate, &kHfPeft}),
                             [&](const Format* format) { return format->bid(probe) != Bid::none; });
}

/// Folders of steps beside such a model: `trainer.save_model(out)` beside `out/checkpoint-N`.
/// DeepSpeed's folders in a Trainer's checkpoint are parts of that.
bool lie_beside_model(const Probe& probe, const SeriesNames& names) {
  if (!holds_model(probe) || has_engine_folder(probe)) return false;
  const std::string& newest = names.steps.rbegin()->second.front().path;
  const auto entry = probe.root.entry(newest);
  return entry && entry->kind == EntryKind::directory && !is_number(newest) &&
         is_known(probe, newest);
}

Bid bid_series(const Probe& probe) {
  const auto counts = [](const std::string& name) { return std::ranges::any_of(name, is_digit); };
  if (!probe.file.empty() || probe.alone || std::ranges::none_of(probe.names, counts))
    return Bid::none;
  const SeriesNames names = series_names(probe.root.list());
  if (names.steps.empty()) return Bid::none;
  if (names.by_change) return are_alike(probe, names) ? Bid::series : Bid::none;
  return lie_beside_model(probe, names) ? Bid::steps_beside_model : Bid::series;
}

/// The steps, and those of them that were opened.
struct Series {
  const Root* root = nullptr;
  OpenOptions options;
  int depth = 0;
  std::vector<std::int64_t> numbers;  ///< they rise
  std::vector<std::vector<StepEntry>> entries;
  std::uint64_t unclaimed = 0;  ///< beside the steps; told with the newest one
  std::mutex mutex;
  std::map<std::size_t, Parts> opened;

  Parts& step(std::size_t i) {
    const std::lock_guard lock(mutex);
    const auto known = opened.find(i);
    if (known != opened.end()) return known->second;
    Parts parts;
    for (const StepEntry& entry : entries[i]) {
      parts.add(open_below(*root, entry.path, options, depth));
    }
    return opened.emplace(i, std::move(parts)).first->second;
  }

  State read(std::size_t i) {
    Parts& parts = step(i);
    if (parts.size() == 1) return only_state(parts[0]);
    State state;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      append(state, only_state(parts[part]), entries[i][part].part);
    }
    return state;
  }

  State state(std::size_t i) {
    State state = read(i);
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
      const auto as_stated = [](std::int64_t number) { return static_cast<double>(number); };
      const auto other = std::ranges::lower_bound(numbers, stated, {}, as_stated);
      if (other == numbers.end() || as_stated(*other) != stated || *other == numbers[i]) continue;
      const auto at = static_cast<std::size_t>(other - numbers.begin());
      if (entries[i].size() > 1 || entries[at].size() > 1) continue;
      try {
        auto copied = stale_copy(*root, {numbers[i], entries[i].front().path},
                                 {*other, entries[at].front().path});
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

/// The model that lies in the directory itself, and what lies beside it, apart from the steps.
std::vector<NamedState> model_here(const Probe& probe, const OpenOptions& options,
                                   const SeriesNames& names) {
  const auto open = [&root = probe.root, options, depth = probe.depth] {
    return open_alone(root, options, depth);
  };
  std::vector<NamedState> named = open().named;
  std::erase_if(named, [&](const NamedState& one) { return names.holds(one.name); });
  named.insert(named.begin(), {std::string(kModelHere), open});
  return named;
}

/// What else lies there: states with a name instead of a number, and what no format knows.
void account(const Probe& probe, const SeriesNames& names, Series& series, Run& run) {
  if (holds_model(probe)) {
    try {
      run.named = model_here(probe, series.options, names);
      return;
    } catch (const Error& error) {
      run.findings.push_back(unreadable(error));
    }
  }
  const Beside others = beside(probe, [&](const Entry& entry) {
    return names.holds(entry.path) ||
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
  for (std::size_t i = series.entries.size(); i-- > 0;) {
    try {
      const Run& step = series.step(i)[0];
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

/// Entries of one step must be told apart by what their names say.
void check_parts(std::int64_t step, const std::vector<StepEntry>& entries, const Root& root) {
  NameViewMap<std::string_view> first;  // path, by part
  for (const StepEntry& entry : entries) {
    const auto [other, is_new] = first.try_emplace(entry.part, entry.path);
    if (is_new) continue;
    throw Error(fmt::format("both {} and {} are step {}: name the one that is meant", other->second,
                            entry.path, step),
                {root.given(), {}, {}});
  }
}

Run open_series(const Probe& probe, const OpenOptions& options) {
  auto series = std::make_shared<Series>();
  series->root = &probe.root;
  series->options = options;
  series->depth = probe.depth;
  Run run;
  const SeriesNames names = series_names(probe.root.list());
  for (const auto& [number, entries] : names.steps) {
    check_parts(number, entries, probe.root);
    series->numbers.push_back(number);
    series->entries.push_back(entries);
    run.steps.emplace_back(number);
  }
  run.step_form = names.form;
  describe(*series, run);
  account(probe, names, *series, run);
  for (const std::string_view name : kTrackers) read_tracker(probe.root, name, *series, run);
  Series* raw = series.get();
  run.open = [raw](std::size_t i) { return raw->state(i); };
  run.close = [raw] {
    std::vector<Finding> findings = raw->root->changed();
    const std::lock_guard lock(raw->mutex);
    for (const auto& [i, step] : raw->opened) {
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
