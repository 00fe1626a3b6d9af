// SPDX-License-Identifier: Apache-2.0
// A line is an event of one rank and step, and lines of ranks and steps may be mixed. They are
// read once and events kept by step, since only when all are there can be said whether ranks
// share a value. The n-th event of one name in one step and rank is repeat n, and meets the n-th
// of other ranks. A group is shared if all values are of one type and print alike, so that NaN
// equals NaN; else each rank has its own fact. A line that is no event is a finding and left out;
// the last one, when no line break ends it, a warning, as the run may still be writing. That
// steps of a rank go back is noted once. Findings are capped for each code.

#include "formats/trace/events.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/lines.hpp"
#include "formats/bytes/python_json.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxLine = std::size_t{16} << 20;
constexpr std::size_t kMaxEvents = 100'000;  // of one step, all ranks

/// What must be the same for the same training; everything else was measured.
constexpr std::array<std::string_view, 7> kCompared = {
    "lr", "loss_scale", "tokens_seen", "batch_id", "sample_ids", "rng_cpu", "optimizer_step"};

/// Those of these that are one value of the whole run, whatever its ranks do.
constexpr std::array<std::string_view, 3> kShared = {"lr", "loss_scale", "optimizer_step"};

struct Event {
  std::string name;
  std::int64_t repeat = 0;
  std::int64_t rank = 0;
  FactValue value;
  Where where;
};

std::int64_t natural(const Json& root, std::string_view key) {
  const auto value = root.find(key);
  if (!value) root.fail(fmt::format("event has no {}", key));
  const std::int64_t number = value->integer();
  if (number < 0) value->fail(fmt::format("{} is negative", key));
  return number;
}

class Reader {
 public:
  explicit Reader(const std::set<std::int64_t>& steps) : steps_(steps) {}

  void line(const Line& line, const Where& place) {
    if (line.cut) {
      findings_.add(found(Code::unreadable,
                          fmt::format("line of {} bytes, at most {} are read", line.size, kMaxLine),
                          place));
      return;
    }
    if (line.text.find_first_not_of(" \t\r") == std::string::npos) return;
    try {
      parse(line, place);
    } catch (const Error& error) {
      Where at = place;
      if (error.where().offset) at.offset = error.where().offset;
      if (line.ended) {
        findings_.add(found(Code::unreadable, error.message(), at));
      } else {
        Finding finding =
            found(Code::unreadable, "last line is incomplete; is the run still writing?", at);
        finding.severity = Severity::warning;
        finding.incomplete = false;
        findings_.add(std::move(finding));
      }
    }
  }

  TraceEvents take() {
    TraceEvents out;
    for (auto& [step, events] : events_) out.facts[step] = facts_of(step, std::move(events));
    out.findings = findings_.take();
    return out;
  }

 private:
  void parse(const Line& line, const Where& place) {
    std::string text = line.text;
    std::uint64_t base = line.offset;
    if (line.number == 1 && text.starts_with("\xef\xbb\xbf")) {  // a byte-order mark
      text.erase(0, 3);
      base += 3;
    }
    const PythonJson json(std::move(text), place.file, base);
    const Json root = json.root();
    if (!root.is(Json::Kind::object)) root.fail("event is no object");
    const std::int64_t step = natural(root, "step");
    const std::int64_t rank = root.find("rank") ? natural(root, "rank") : 0;
    const auto name = root.find("name");
    if (!name || !name->is(Json::Kind::string) || name->string().empty())
      root.fail("event has no name");
    const auto value = root.find("value");
    if (!value) root.fail("event has no value");
    note_order(rank, step, place);
    if (!steps_.contains(step)) return;
    std::vector<Event>& events = events_[step];
    if (events.size() == kMaxEvents) {
      if (!full_.insert(step).second) return;
      findings_.add(beyond(
          place,
          fmt::format("more than {} events in step {}, the rest is not read", kMaxEvents, step)));
      return;
    }
    Event event{std::string(name->string()), 0, rank, json.fact_of(*value), place};
    event.repeat = repeats_[{step, rank, event.name}]++;
    events.push_back(std::move(event));
  }

  void note_order(std::int64_t rank, std::int64_t step, const Where& place) {
    std::int64_t& last = last_step_.try_emplace(rank, step).first->second;
    if (step < last && !went_back_) {
      went_back_ = true;
      Finding finding =
          found(Code::mixed_step,
                fmt::format("steps of rank {} go back from {} to {}", rank, last, step), place);
      finding.severity = Severity::note;
      findings_.add(std::move(finding));
    }
    last = step;
  }

  /// Events of one step: shared values once, others by rank.
  std::vector<Fact> facts_of(std::int64_t step, std::vector<Event> events) {
    std::map<std::pair<std::string, std::int64_t>, std::vector<const Event*>> groups;
    std::vector<const std::vector<const Event*>*> order;
    for (const Event& event : events) {
      std::vector<const Event*>& group = groups[{event.name, event.repeat}];
      if (group.empty()) order.push_back(&group);
      group.push_back(&event);
    }
    std::vector<Fact> facts;
    for (const auto* group : order) {
      const Event& first = *group->front();
      const std::string name =
          first.repeat == 0 ? first.name : fmt::format("{}.{}", first.name, first.repeat);
      const bool shared =
          std::ranges::all_of(*group, [&](const Event* event) { return same(*event, first); });
      const FactUse use = std::ranges::find(kCompared, first.name) != kCompared.end()
                              ? FactUse::compared
                              : FactUse::note;
      if (shared) {
        facts.push_back({name, first.value, use, first.where});
        continue;
      }
      for (const Event* event : *group) {
        facts.push_back(
            {fmt::format("{}.rank.{}", name, event->rank), event->value, use, event->where});
      }
      if (std::ranges::find(kShared, first.name) != kShared.end()) disagree(step, name, *group);
    }
    return facts;
  }

  /// Ranks that must have one value have several.
  void disagree(std::int64_t step, const std::string& name,
                const std::vector<const Event*>& group) {
    const Event& first = *group.front();
    const auto other =
        std::ranges::find_if(group, [&](const Event* event) { return !same(*event, first); });
    Finding finding = odd(
        (*other)->where,
        fmt::format("ranks disagree on {}: {} on rank {}, {} on rank {}", name,
                    to_string(first.value), first.rank, to_string((*other)->value), (*other)->rank),
        Code::config);
    finding.step = step;
    findings_.add(std::move(finding));
  }

  static bool same(const Event& a, const Event& b) {
    return a.value.index() == b.value.index() && to_string(a.value) == to_string(b.value);
  }

  const std::set<std::int64_t>& steps_;
  std::map<std::int64_t, std::vector<Event>> events_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::string>, std::int64_t> repeats_;
  std::map<std::int64_t, std::int64_t> last_step_;  // by rank
  std::set<std::int64_t> full_;                     // steps with more events than are read
  bool went_back_ = false;
  Findings findings_;
};

}  // namespace

TraceEvents read_trace_events(const Source& file, const std::set<std::int64_t>& steps) {
  Reader reader(steps);
  for_each_line(file, kMaxLine, [&](const Line& line) {
    Where place = file.where(line.offset);
    place.object = fmt::format("line {}", line.number);
    reader.line(line, place);
  });
  return reader.take();
}

}  // namespace ttcheck::formats
