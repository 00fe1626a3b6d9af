// SPDX-License-Identifier: Apache-2.0
// ttcheck-trace: the native trace, a directory of run.json, events.jsonl and step-*/rank-*.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/parallel.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/readers/format.hpp"
#include "formats/readers/rows.hpp"
#include "formats/trace/events.hpp"
#include "formats/trace/rank.hpp"
#include "formats/trace/run_json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kRunFile = "run.json", kEventsFile = "events.jsonl";
constexpr std::uint64_t kHead = std::uint64_t{64} << 10;
constexpr std::uint64_t kRunLimit = std::uint64_t{16} << 20;

/// The number of `<prefix><digits>` with at least that many digits.
std::optional<std::int64_t> numbered(std::string_view name, std::string_view prefix,
                                     std::size_t digits) {
  if (!name.starts_with(prefix) || name.size() < prefix.size() + digits) return std::nullopt;
  const std::string_view text = name.substr(prefix.size());
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> step_of(std::string_view name) { return numbered(name, "step-", 6); }

std::optional<std::int64_t> rank_of(std::string_view name) {
  for (const std::string_view ending : {".h5", ".safetensors"}) {
    if (name.ends_with(ending))
      return numbered(name.substr(0, name.size() - ending.size()), "rank-", 5);
  }
  return std::nullopt;
}

/// The version key (13 characters) is in run.json.
bool says_trace(const Probe& probe) {
  if (std::ranges::find(probe.names, kRunFile) == probe.names.end()) return false;
  try {
    return probe.root.text(kRunFile, kRunLimit).find("\"ttcheck_trace\"") != std::string::npos;
  } catch (const Error&) {
    return false;
  }
}

/// The first rank's file of the first step starts as a trace's payload does: HDF5's signature, or
/// the version key within a safetensors header.
bool holds_ranks(const Probe& probe) {
  const auto step =
      std::ranges::find_if(probe.names, [](const auto& name) { return step_of(name).has_value(); });
  if (step == probe.names.end()) return false;
  try {
    for (const Entry& entry : probe.root.list(*step)) {
      if (!rank_of(std::string_view(entry.path).substr(entry.path.rfind('/') + 1))) continue;
      const Source& file = probe.root.file(entry.path);
      std::string head(static_cast<std::size_t>(std::min(kHead, file.size())), '\0');
      file.read(0, std::as_writable_bytes(std::span(head)));
      if (entry.path.ends_with(".h5")) return head.starts_with("\x89HDF\r\n\x1a\n");
      return head.find("\"ttcheck_trace\"") != std::string::npos;
    }
  } catch (const Error&) {
    return false;
  }
  return false;
}

/// The key in run.json, or where that is missing or damaged, what the ranks' files start with.
Bid bid_trace(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  return says_trace(probe) ? Bid::trace : holds_ranks(probe) ? Bid::trace_ranks : Bid::none;
}

class Trace {
 public:
  explicit Trace(const Root& root) : root_(root) {}

  Run open(const std::shared_ptr<Trace>& self) {
    TraceRun about = read_run();
    Run run;
    run.format = "ttcheck-trace";
    run.trace = true;
    run.mesh = mesh_ = std::move(about.mesh);
    run.facts = std::move(about.facts);
    run.findings = std::move(about.findings);
    list_steps(run.findings);
    if (steps_.empty()) throw Error("trace has no step-* directories", {root_.given(), {}, {}});
    for (const auto& [step, folder] : steps_) run.steps.emplace_back(step);
    read_events(run.findings);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.owner = self;
    return run;
  }

 private:
  TraceRun read_run() const {
    if (!root_.entry(kRunFile)) throw Error("run.json is missing", {root_.given(), {}, {}});
    return parse_trace_run(root_.text(kRunFile, kRunLimit), root_.file(kRunFile).where(0).file);
  }

  void list_steps(std::vector<Finding>& findings) {
    for (const Entry& entry : root_.list()) {
      const auto step = step_of(entry.path);
      if (!step || entry.kind != EntryKind::directory) continue;
      const auto [other, added] = steps_.emplace(*step, entry.path);
      if (!added) {
        findings.push_back(found(Code::unreadable,
                                 fmt::format("step {} is also in {}", *step, other->second),
                                 {root_.given(), {}, entry.path}));
      }
    }
  }

  void read_events(std::vector<Finding>& findings) {
    if (!root_.entry(kEventsFile)) return;
    std::set<std::int64_t> wanted;
    for (const auto& [step, folder] : steps_) wanted.insert(step);
    try {
      TraceEvents events = read_trace_events(root_.file(kEventsFile), wanted);
      facts_ = std::move(events.facts);
      std::ranges::move(events.findings, std::back_inserter(findings));
    } catch (const Error& error) {
      findings.push_back(unreadable(error.at({root_.given(), {}, std::string(kEventsFile)})));
    }
  }

  /// The files of a step by rank; what else is there is named and counted as unclaimed.
  std::map<std::int64_t, std::string> rank_files(const std::string& folder, State& state) const {
    std::map<std::int64_t, std::string> files;
    for (const Entry& entry : root_.list(folder)) {
      const std::string_view name = std::string_view(entry.path).substr(entry.path.rfind('/') + 1);
      const auto rank = entry.kind == EntryKind::file ? rank_of(name) : std::nullopt;
      const auto complain = [&](Severity severity, std::string message) {
        Finding finding =
            found(Code::unreadable, std::move(message), {root_.given(), {}, entry.path});
        finding.severity = severity;
        finding.incomplete = severity == Severity::error;
        state.findings.push_back(std::move(finding));
        state.bytes_unclaimed += entry.size;
      };
      if (!rank) {
        complain(Severity::note, "not a rank's file");
      } else if (*rank >= mesh_.world_size()) {
        complain(Severity::error,
                 fmt::format("rank {} is outside of a world of {}", *rank, mesh_.world_size()));
      } else if (!files.emplace(*rank, entry.path).second) {
        complain(Severity::error, fmt::format("rank {} is also in {}", *rank, files[*rank]));
      }
    }
    return files;
  }

  State state(std::size_t index) {
    const auto at = std::next(steps_.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    state.step = at->first;
    if (const auto facts = facts_.find(at->first); facts != facts_.end())
      state.facts = facts->second;
    const std::map<std::int64_t, std::string> files = rank_files(at->second, state);
    const std::vector<std::pair<std::int64_t, std::string>> list(files.begin(), files.end());
    std::vector<std::optional<TraceRankFile>> read(list.size());
    std::vector<std::optional<Error>> failed(list.size());
    parallel_for(list.size(), [&](std::size_t i) {
      const auto& [rank, path] = list[i];
      try {
        read[i] = read_trace_rank(root_.file(path), static_cast<std::int32_t>(rank),
                                  mesh_.coordinates(rank));
      } catch (const Error& error) {
        failed[i] = error.at({root_.given() + "/" + path, {}, {}});
      }
    });
    for (std::int64_t rank = 0; rank < mesh_.world_size(); ++rank) {
      if (state.missing_ranks.size() == kMaxRanksListed) break;
      if (!files.contains(rank)) state.missing_ranks.push_back(static_cast<std::int32_t>(rank));
    }
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (failed[i]) {
        state.unreadable_ranks.emplace(static_cast<std::int32_t>(list[i].first), *failed[i]);
      } else {
        take(std::move(*read[i]), state);
      }
    }
    std::ranges::sort(state.missing_ranks);
    for (Finding& finding : state.findings) finding.step = state.step;
    return state;
  }

  void take(TraceRankFile file, State& state) {
    std::ranges::move(file.records, std::back_inserter(state.records));
    std::ranges::move(file.findings, std::back_inserter(state.findings));
    state.unreadable += file.unreadable;
    state.bytes_unclaimed += file.unclaimed;
    if (file.owner) owners_.push_back(std::move(file.owner));
  }

  const Root& root_;
  Mesh mesh_;
  std::map<std::int64_t, std::string> steps_;        // number, folder
  std::map<std::int64_t, std::vector<Fact>> facts_;  // of events, by step
  std::vector<std::shared_ptr<void>> owners_;        // of decoders, as long as the run
};

Run open_trace(const Probe& probe, const OpenOptions&) {
  const auto trace = std::make_shared<Trace>(probe.root);
  return trace->open(trace);
}

}  // namespace

const Format kTrace = {"ttcheck-trace",
                       "tensors of a training step by rank, with their place in the step",
                       bid_trace, open_trace};

}  // namespace ttcheck::formats
