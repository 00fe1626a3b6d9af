// SPDX-License-Identifier: Apache-2.0
// A directory's bidders may ask whether what lies below is known, which is a look and an auction
// of its own, whose bidders may ask in turn. Each probe keeps the answers by path; of
// directories, a table that all probes below one another share keeps them by device, inode and
// depth. A directory is opened by the same door again, at most six inside one another. First
// bytes of known files are kept for the opening, up to 1 MiB a probe. Where a format leaves them
// out, the door sets the run's path, steps, and count of bytes read, and it does for every format
// what none should do by itself: it names flat optimizer state, adds options that torch assumes,
// and tells the steps that a state is said to be of. What could not be opened or read is told
// once, by the outermost root. Two equal bids would be a fault of the program, not of the input.

#include "formats/readers/auction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/first_few.hpp"
#include "core/base/require.hpp"
#include "formats/folder/series_names.hpp"
#include "formats/folder/unopened.hpp"
#include "formats/readers/flat_state.hpp"
#include "formats/readers/foreign.hpp"
#include "formats/readers/group_defaults.hpp"
#include "formats/readers/stated_step.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kHeadBytes = 16 * 1024;
constexpr std::size_t kHeadsKept = std::size_t{1} << 20;
constexpr std::size_t kShownEntries = 4;
constexpr std::string_view kListed = "man ttcheck-formats lists what is read";
constexpr int kMaxDepth = 6;  // directories opened inside one another

std::string first_bytes(const Probe& probe) {
  std::string text;
  for (const std::byte byte : probe.head.first(std::min<std::size_t>(probe.head.size(), 8))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned>(byte));
  }
  return text;
}

std::string some_entries(const Probe& probe) {
  std::vector<std::string> shown;
  for (const Entry& entry : probe.root.list()) {
    std::string& text = shown.emplace_back(entry.path);
    if (entry.kind == EntryKind::directory) text += '/';
    if (entry.kind == EntryKind::file) text += fmt::format(" of {} bytes", entry.size);
  }
  return first_few(shown, kShownEntries);
}

Error unknown_format(const Probe& probe) {
  const Where where = {probe.root.given(), {}, {}};
  if (probe.file.empty()) {
    return Error(fmt::format("no known format: nothing in this directory is known ({}); {}",
                             some_entries(probe), kListed),
                 where);
  }
  const Where start = {probe.root.given(), 0, {}};
  const std::string_view kind = foreign_kind(probe.root.file(probe.file), probe.head);
  if (!kind.empty()) return Error(fmt::format("no known format: this looks like {}", kind), start);
  return Error(
      fmt::format("no known format: the file begins with {}; {}", first_bytes(probe), kListed),
      start);
}

[[noreturn]] void fail_unknown(const Probe& probe) {
  const Where where = {probe.root.given(), {}, {}};
  if (!probe.file.empty() && probe.head.empty())
    throw Error("the file is empty", where).because("empty");
  if (probe.file.empty() && probe.names.empty())
    throw Error("the directory is empty", where).because("empty");
  const Error unknown = unknown_format(probe);
  throw unknown.because("unknown-format");
}

/// What keeps a run's sources alive: those of the format, then the root they were opened in.
struct Owner {
  std::shared_ptr<const Root> root;
  std::shared_ptr<void> inner;
};

}  // namespace

/// What bidders asked of files and directories below a probe. Links may lead to one directory by
/// any number of ways, and around: it is looked at once at each depth (twice, where one of its
/// names states a step, which bids go by), and never inside itself.
struct Glances {
  struct Glance {
    bool known = false;
    std::vector<std::byte> head;  ///< of a file that is known, while all are at most kHeadsKept
  };

  using Place = std::pair<std::uint64_t, std::uint64_t>;
  using Directories = std::map<std::tuple<Place, int, bool>, bool>;  ///< depth, as a step: known

  std::map<std::string, Glance, std::less<>> by_path;
  std::size_t kept = 0;
  std::vector<Place> inside;  ///< this directory, and those that were looked at to get here
  std::shared_ptr<Directories> known = std::make_shared<Directories>();  ///< of all probes
};

namespace {

std::shared_ptr<Glances> glances_of(const Root& root, const Glances* above) {
  auto glances = std::make_shared<Glances>();
  if (above != nullptr) {
    glances->inside = above->inside;
    glances->known = above->known;
  }
  if (!root.is_file()) glances->inside.push_back(root.place());
  return glances;
}

}  // namespace

std::unique_ptr<Looked> look(const Root& root, int depth, std::vector<std::byte> head,
                             const Glances* above) {
  auto looked = std::make_unique<Looked>(Looked{Probe{root, {}, {}, {}, depth}, std::move(head)});
  Probe& probe = looked->probe;
  probe.glances = glances_of(root, above);
  if (root.is_file()) {
    probe.file = root.file_name();
    if (looked->head.empty()) {
      const Source& source = root.file(probe.file);
      looked->head.resize(std::min(kHeadBytes, source.size()));
      source.read(0, looked->head);
    }
    probe.head = looked->head;
  } else {
    for (const Entry& entry : root.list()) probe.names.push_back(entry.path);
  }
  return looked;
}

const Format* auction(const Probe& probe) {
  const Format* best = nullptr;
  Bid highest = Bid::none;
  for (const auto& bidders : {table(), containers()}) {
    for (const Format* format :
         bidders | std::views::reverse) {  // those that go by names stand last
      const Bid bid = format->bid(probe);
      if (bid == Bid::layout_given) return format;  // nobody offers more: no file need be looked at
      require(bid == Bid::none || bid != highest, "a bid of one reader's own");
      if (bid <= highest) continue;
      highest = bid;
      best = format;
    }
  }
  return best;
}

namespace {

/// Opens what was looked at. All that a run must have is set but for its owner.
Run open_looked(Probe& probe, const OpenOptions& options) {
  const Root& root = probe.root;
  probe.layouts = options.layouts;
  const Format* format = auction(probe);
  if (format == nullptr) fail_unknown(probe);
  Run run = format->open(probe, options);
  if (!probe.file.empty()) {
    auto mismatch = name_mismatch(probe.file, run.format, {root.given(), 0, {}});
    if (mismatch) run.findings.push_back(std::move(*mismatch));
  }
  if (run.path.empty()) run.path = root.given();
  if (run.steps.empty() && !run.several) run.steps = {std::nullopt};
  if (!run.bytes_read) run.bytes_read = [&root] { return root.bytes_read(); };
  if (!run.close) run.close = [&root] { return root.changed(); };
  const bool numbered = run.trace || (!run.steps.empty() && run.steps.front());
  run.open = [inner = std::move(run.open), numbered, facts = step_facts(run.facts),
              given = root.given(), directory = probe.file.empty()](std::size_t i) {
    State state = inner(i);
    assume_group_options(state.facts);
    name_flat_state(state.records);
    if (numbered || !state.stated.empty()) return state;  // the only run below says it for itself
    state.stated = steps_stated(given, directory, facts, state);
    state.in_series = stated_in_series(given, directory);
    return state;
  };
  for (NamedState& one : run.named) {
    if (one.open) continue;
    one.open = [&root, path = one.name, options, depth = probe.depth] {
      return open_below(root, path, options, depth);
    };
  }
  return run;
}

Run open_with_head(std::shared_ptr<const Root> root, const OpenOptions& options, int depth,
                   std::vector<std::byte> head) {
  if (depth > kMaxDepth) {
    throw Error("too many directories inside one another", {root->given(), {}, {}});
  }
  const std::unique_ptr<Looked> looked = look(*root, depth, std::move(head));
  Run run = open_looked(looked->probe, options);
  if (depth == 0) {
    const Root* raw = root.get();
    tell_faults(*root, run.findings);
    run.close = [inner = std::move(run.close), raw] {
      std::vector<Finding> findings = inner();
      tell_faults(*raw, findings);
      return findings;
    };
  }
  run.owner = std::make_shared<Owner>(Owner{std::move(root), std::move(run.owner)});
  return run;
}

Glances::Glance glance(const Probe& probe, const Root& root) {
  const std::unique_ptr<Looked> looked = look(root, probe.depth + 1, {}, probe.glances.get());
  if (auction(looked->probe) == nullptr) return {};
  return {true, std::move(looked->head)};
}

bool is_known_directory(const Probe& probe, const Root& root, std::string_view path) {
  const Glances::Place place = root.place();
  const Glances& glances = *probe.glances;
  if (std::ranges::find(glances.inside, place) != glances.inside.end()) return false;
  const bool as_step = step_stated_by(path.substr(path.rfind('/') + 1), true).has_value();
  const auto [seen, is_new] = glances.known->try_emplace({place, probe.depth, as_step}, false);
  if (is_new) seen->second = glance(probe, root).known;
  return seen->second;
}

Glances::Glance glance(const Probe& probe, std::string_view path) {
  try {
    const Root root = probe.root.glance(path);
    if (root.is_file() || probe.glances == nullptr) return glance(probe, root);
    return {is_known_directory(probe, root, path), {}};
  } catch (const Error&) {
    return {};
  }
}

}  // namespace

Run open_root(std::shared_ptr<const Root> root, const OpenOptions& options, int depth) {
  return open_with_head(std::move(root), options, depth, {});
}

Run open_alone(const Root& root, const OpenOptions& options, int depth) {
  const std::unique_ptr<Looked> looked = look(root, depth);
  looked->probe.alone = true;
  return open_looked(looked->probe, options);
}

Run open_below(const Root& root, std::string_view path, const OpenOptions& options, int depth) {
  return open_root(std::make_shared<const Root>(root.below(path)), options, depth + 1);
}

Run open_below(const Probe& probe, std::string_view path, const OpenOptions& options) {
  auto root = std::make_shared<const Root>(probe.root.below(path));
  std::vector<std::byte> head;
  if (probe.glances != nullptr) {
    const auto seen = probe.glances->by_path.find(path);
    if (seen != probe.glances->by_path.end()) head = seen->second.head;
  }
  return open_with_head(std::move(root), options, probe.depth + 1, std::move(head));
}

bool is_known(const Probe& probe, std::string_view path) {
  if (probe.glances == nullptr) return glance(probe, path).known;
  Glances& glances = *probe.glances;
  const auto seen = glances.by_path.find(path);
  if (seen != glances.by_path.end()) return seen->second.known;
  Glances::Glance found = glance(probe, path);
  if (glances.kept + found.head.size() > kHeadsKept) found.head.clear();
  glances.kept += found.head.size();
  return glances.by_path.emplace(path, std::move(found)).first->second.known;
}

}  // namespace ttcheck::formats
