// SPDX-License-Identifier: Apache-2.0
// rank-files: one file a rank, each of any format that is one state, put in place by a layout: the
// user's, the `layout.toml` inside, or the one that follows from Meta's parameters.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/glob.hpp"
#include "core/model/layout_use.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/megatron/layout_base.hpp"
#include "formats/rank_files/agreement.hpp"
#include "formats/rank_files/layout_base.hpp"
#include "formats/rank_files/meta.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/auction.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kLayoutFile = "layout.toml";
constexpr std::uint64_t kLayoutLimit = std::uint64_t{1} << 20;
constexpr std::int64_t kMaxWorld = std::int64_t{1} << 20;

using Step = std::optional<std::int64_t>;

struct RankFile {
  std::string path;
  std::int32_t rank = 0;
  Coordinates at;
};

bool is_layout(const Probe& probe) {
  return probe.file.empty() && std::ranges::find(probe.names, kLayoutFile) != probe.names.end();
}

Layout layout_inside(const Probe& probe) {
  return parse_layout(probe.root.text(kLayoutFile, kLayoutLimit),
                      probe.root.file(kLayoutFile).where(0).file);
}

/// The files that can match the pattern: as deep as it has folders.
std::vector<Entry> candidates(const Root& root, const Layout& layout) {
  const auto depth = static_cast<int>(std::ranges::count(layout.pattern, '/')) + 1;
  std::vector<Entry> files = root.list("", depth);
  std::erase_if(files, [](const Entry& entry) { return entry.kind != EntryKind::file; });
  return files;
}

bool matches(const Root& root, const Layout& layout) {
  if (layout.pattern.empty()) return false;
  const Glob glob(layout.pattern, '/');
  return std::ranges::any_of(candidates(root, layout),
                             [&](const Entry& file) { return glob.matches(file.path); });
}

class RankFiles {
 public:
  RankFiles(const Probe& probe, const OpenOptions& options, Layout layout)
      : root_(probe.root), depth_(probe.depth), options_(options), layout_(std::move(layout)) {}

  Run open(const std::shared_ptr<RankFiles>& self) {
    Run run;
    run.format = "rank-files";
    run.mesh = layout_.mesh;
    add_base(run.findings);
    world_ = layout_.mesh.world_size();
    if (world_ > kMaxWorld)
      throw Error(fmt::format("mesh of {} ranks", world_), {layout_.file, {}, {}});
    for (const auto& [name, value] : layout_.model) {
      run.facts.push_back({"model." + name, value, FactUse::note, {layout_.file, {}, "[model]"}});
    }
    list_files(run.findings);
    for (const auto& [step, files] : steps_) run.steps.push_back(step);
    run.open = [self](std::size_t index) { return self->state(index); };
    run.close = [self] { return self->changed(); };
    run.owner = self;
    return run;
  }

 private:
  /// The built-in rules that the layout is based on.
  void add_base(std::vector<Finding>& findings) {
    if (layout_.base.starts_with("megatron-") || layout_.base == "deepspeed") {
      add_megatron_base(layout_, stated(findings));
    } else {
      add_layout_base(layout_);
    }
  }

  /// What the first of the files that is a torch file states.
  MegatronStated stated(std::vector<Finding>& findings) const {
    const Glob glob(layout_.pattern, '/');
    for (const Entry& file : candidates(root_, layout_)) {
      if (!glob.matches(file.path)) continue;
      try {
        if (auto stated = megatron_stated(root_.file(file.path))) return *std::move(stated);
      } catch (const Error& error) {
        findings.push_back(unreadable(error.at(Where{layout_.file, {}, "base"})));
      }
    }
    return {};
  }

  void list_files(std::vector<Finding>& findings) {
    for (const Entry& file : candidates(root_, layout_)) {
      const Where place{root_.given() + "/" + file.path, {}, {}};
      try {
        Step step;
        auto at = match_path(layout_, file.path, &step);
        if (!at) continue;
        const auto rank = layout_.mesh.rank_at(*at);
        if (!rank) throw Error("coordinates in the path are outside of the mesh", place);
        steps_[step].push_back({file.path, static_cast<std::int32_t>(*rank), std::move(*at)});
      } catch (const Error& error) {
        findings.push_back(unreadable(error.at(place)));
      }
    }
    if (steps_.empty())
      throw Error(fmt::format("no file matches the pattern {}", layout_.pattern),
                  {layout_.file, {}, {}});
  }

  State state(std::size_t index) {
    const auto& [step, files] = *std::next(steps_.begin(), static_cast<std::ptrdiff_t>(index));
    State state;
    state.step = step;
    LayoutUse use(layout_);
    RankFacts facts;
    Agreement agreement(world_);
    std::set<std::int32_t> there;
    for (const RankFile& file : files) {
      const Where place{root_.given() + "/" + file.path, {}, {}};
      if (!there.insert(file.rank).second) {
        ++state.unreadable;
        state.findings.push_back(
            found(Code::unreadable, fmt::format("rank {} has another file too", file.rank), place));
        state.findings.back().ranks = {file.rank};
        continue;
      }
      try {
        read(file, use, facts, agreement, state);
      } catch (const Error& error) {
        state.unreadable_ranks.emplace(file.rank, error.at(place));
      }
    }
    find_missing(there, state);
    leave_out_unplaced(use, state);
    for (Finding& finding : use.findings()) state.findings.push_back(std::move(finding));
    for (Finding& finding : agreement.findings()) state.findings.push_back(std::move(finding));
    for (Finding& finding : state.findings) finding.step = step;
    return state;
  }

  /// The rank whose file the name is, if the pattern fits it.
  std::optional<std::int64_t> rank_of(std::string_view path) const {
    try {
      Step step;
      const auto at = match_path(layout_, path, &step);
      return at ? layout_.mesh.rank_at(*at) : std::nullopt;
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  /// A file that says under which name it was written, held against the one that it has.
  void check_name(const RankFile& file, const Run& run, Agreement& agreement) const {
    const Fact* saved_as = find_fact(run.facts, kSavedAs);
    if (saved_as == nullptr) return;
    const std::size_t start = file.path.rfind('/') + 1;
    const std::size_t dot = file.path.find_last_of("./");
    const bool extends = dot != std::string::npos && dot >= start;
    const std::string written = file.path.substr(0, start) + to_string(saved_as->value) +
                                (extends ? file.path.substr(dot) : std::string());
    const auto rank = rank_of(written);
    if (rank) agreement.written_by(*rank, file.rank, {root_.given() + "/" + file.path, {}, {}});
  }

  void read(const RankFile& file, LayoutUse& use, RankFacts& facts, Agreement& agreement,
            State& out) {
    const Run& run = children_.emplace_back(open_below(root_, file.path, options_, depth_));
    if (run.steps.size() != 1 || run.trace) {
      throw Error(fmt::format("a rank's file must be one state, this is {} with {} steps",
                              run.format, run.steps.size()));
    }
    State state = run.open(0);
    check_name(file, run, agreement);
    agreement.count_steps(layout_.pattern, file.rank, state.facts, state.records);
    facts.take(run.facts, file.rank, out.facts);
    facts.take(state.facts, file.rank, out.facts);
    for (const std::vector<Finding>* list : {&run.findings, &std::as_const(state).findings}) {
      for (Finding finding : *list) {
        finding.ranks = {file.rank};
        out.findings.push_back(std::move(finding));
      }
    }
    out.bytes_unclaimed += state.bytes_unclaimed;
    out.unreadable += state.unreadable;
    place(std::move(state.records), run.format == "torch", file, use, out);
  }

  /// Names still start with the layout's root. Where it is a container that the torch reader drops
  /// and a weight lies outside of it, it was dropped: what looks like it is a part of the model's
  /// own names.
  bool has_root(const std::vector<Record>& records, bool torch) const {
    const auto below = [&](const Record& record) {
      return below_root(record.identity.name).has_value();
    };
    const bool dropped = torch && is_root_container(layout_.root) &&
                         std::ranges::any_of(records, [&](const Record& record) {
                           return record.kind == Kind::weight && !below(record);
                         });
    return !dropped && std::ranges::any_of(records, below);
  }

  void place(std::vector<Record> records, bool torch, const RankFile& file, LayoutUse& use,
             State& out) {
    const bool rooted = has_root(records, torch);
    std::int64_t outside = 0;
    std::set<std::string> names;
    for (Record& record : records) {
      record.at = file.at;
      record.piece.rank = file.rank;
      std::string local = record.identity.name;
      if (rooted) {
        auto below = below_root(local);
        if (!below) {
          ++outside;
          continue;
        }
        local = std::move(below->name);
        if (below->chunk) record.at["vpp"] = *below->chunk;
      }
      record.identity.name = use.global_name(local, record.at);
      record.kind = kind_of_name(record.identity.name);
      if (!names.insert(record.identity.name).second) {
        ++out.unreadable;
        out.findings.push_back(found(Code::unreadable,
                                     fmt::format("{} has the global name of another tensor", local),
                                     record.piece.where(), record.identity.name));
        continue;
      }
      const bool told = record.box_lo || record.placement;  // by the file itself
      const TensorRule* rule =
          told && rule_for(layout_, record.identity.name) == nullptr
              ? nullptr
              : use.rule_for(record.identity.name, file.rank, record.piece.where());
      if (rule != nullptr) {
        record.box_lo.reset();
        record.placement = rule->dims;
        record.logical = rule->shape;
      }
      out.records.push_back(std::move(record));
    }
    if (outside > 0) {
      Finding finding =
          found(Code::unexpected,
                fmt::format("{} tensors lie outside of {}, left out", outside, layout_.root),
                {root_.given() + "/" + file.path, {}, {}});
      finding.severity = Severity::note;
      out.findings.push_back(std::move(finding));
    }
  }

  struct BelowRoot {
    std::string name;
    std::optional<std::int64_t> chunk;  ///< the number in a root that holds {vpp}
  };

  /// The part of a name below the layout's root.
  std::optional<BelowRoot> below_root(const std::string& name) const {
    if (layout_.root.empty()) return BelowRoot{name, {}};
    std::size_t end = 0;
    for (auto parts = std::ranges::count(layout_.root, '.') + 1;
         parts > 0 && end != std::string::npos; --parts) {
      end = name.find('.', end == 0 ? 0 : end + 1);
    }
    if (end == std::string::npos) return std::nullopt;
    const auto match = Glob(layout_.root).match(std::string_view(name).substr(0, end));
    if (!match) return std::nullopt;
    BelowRoot below{name.substr(end + 1), {}};
    const auto chunk = match->captures.find("vpp");
    if (chunk != match->captures.end()) below.chunk = chunk->second;
    return below;
  }

  /// Ranks without a file; where the pattern does not name an axis, its first ranks write for all,
  /// and the others are silent.
  void find_missing(const std::set<std::int32_t>& there, State& state) const {
    const auto named = [&](const std::string& axis) {
      return layout_.pattern.find("{rank}") != std::string::npos ||
             layout_.pattern.find("{" + axis + "}") != std::string::npos;
    };
    for (std::int64_t rank = 0; rank < world_; ++rank) {
      if (state.missing_ranks.size() == kMaxRanksListed) return;
      if (there.contains(static_cast<std::int32_t>(rank))) continue;
      bool expected = true;
      for (const auto& [axis, value] : layout_.mesh.coordinates(rank))
        expected = expected && (value == 0 || named(axis));
      (expected ? state.missing_ranks : state.silent_ranks)
          .push_back(static_cast<std::int32_t>(rank));
    }
  }

  static void leave_out_unplaced(const LayoutUse& use, State& state) {
    std::set<std::string> names;
    std::erase_if(state.records, [&](const Record& record) {
      const bool told = record.box_lo || record.placement;
      if (told || !use.unplaced(record.identity.name)) return false;
      names.insert(record.identity.name);
      return true;
    });
    state.unreadable += static_cast<std::int64_t>(names.size());
  }

  std::vector<Finding> changed() const {
    std::vector<Finding> findings = root_.changed();
    for (const Run& child : children_) {
      if (child.close) std::ranges::move(child.close(), std::back_inserter(findings));
    }
    return findings;
  }

  const Root& root_;
  int depth_;
  OpenOptions options_;
  Layout layout_;
  std::int64_t world_ = 1;
  std::map<Step, std::vector<RankFile>> steps_;
  std::vector<Run> children_;  // own what records point to
};

/// Meta's: the ranks' files with what the parameters beside them say.
Run open_meta(const Probe& probe, const OpenOptions& options) {
  MetaFiles meta = read_meta(probe, options);
  const bool alone = meta.layout.mesh.world_size() == 1;
  const auto files = std::make_shared<RankFiles>(probe, options, std::move(meta.layout));
  Run run = files->open(files);
  if (alone) run.format = "torch";
  std::ranges::move(meta.facts, std::back_inserter(run.facts));
  std::ranges::move(meta.findings, std::back_inserter(run.findings));
  return run;
}

/// True when a layout of the user's meets a file of the directory.
bool serves_layout(const Probe& probe) {
  if (!probe.file.empty()) return false;
  try {
    return std::ranges::any_of(probe.layouts,
                               [&](const Layout& layout) { return matches(probe.root, layout); });
  } catch (const Error&) {
    return false;
  }
}

/// A layout inside whose pattern meets a file; one that cannot be parsed is still ours to report.
Bid bid_rank_files(const Probe& probe) {
  if (serves_layout(probe)) return Bid::layout_given;
  if (!is_layout(probe)) return is_meta(probe) ? Bid::meta : Bid::none;
  try {
    return matches(probe.root, layout_inside(probe)) ? Bid::layout : Bid::none;
  } catch (const Error&) {
    return Bid::layout_unread;
  }
}

Run open_rank_files(const Probe& probe, const OpenOptions& options) {
  const auto named = std::ranges::find_if(
      options.layouts, [&](const Layout& layout) { return matches(probe.root, layout); });
  if (named == options.layouts.end() && !is_layout(probe)) return open_meta(probe, options);
  Layout layout = named != options.layouts.end() ? *named : layout_inside(probe);
  const auto files = std::make_shared<RankFiles>(probe, options, std::move(layout));
  return files->open(files);
}

}  // namespace

const Format kRankFiles = {"rank-files",
                           "one file a rank, placed by a layout file or Meta's params.json",
                           bid_rank_files, open_rank_files};

}  // namespace ttcheck::formats
