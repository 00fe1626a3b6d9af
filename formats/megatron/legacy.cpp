// SPDX-License-Identifier: Apache-2.0
// megatron-legacy: `iter_NNNNNNN/` or `release/` with a directory a model-parallel rank,
// `mp_rank_TT[_PPP][_EEE]` (get_checkpoint_name in megatron/training/checkpointing.py). Which of
// the numbers are there, and what they mean, only the arguments in the files say.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/digest.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/megatron/cross_check.hpp"
#include "formats/megatron/directory_names.hpp"
#include "formats/megatron/layers.hpp"
#include "formats/megatron/mesh.hpp"
#include "formats/megatron/placing.hpp"
#include "formats/megatron/rank.hpp"
#include "formats/megatron/vocabulary.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxChunks = std::size_t{1} << 17;  ///< of all stages together

std::vector<std::string> rank_directories(const Probe& probe) {
  std::vector<std::string> found;
  for (const std::string& name : probe.names) {
    if (rank_numbers(name).empty()) continue;
    const auto entry = probe.root.entry(name);
    if (entry && entry->kind == EntryKind::directory) found.push_back(name);
  }
  return found;
}

class Checkpoint {
 public:
  explicit Checkpoint(const Probe& probe) : root_(probe.root) {
    stated_step_ = step_of_path(probe.root.given(), "iter_");
    others_ = beside(probe, [](const Entry& entry) {
      return entry.kind == EntryKind::directory && !rank_numbers(entry.path).empty();
    });
    directories_ = rank_directories(probe);
  }

  Run open(const std::shared_ptr<Checkpoint>& self) {
    read_arguments();
    Run run;
    settle_groups(run.findings);
    mesh_ = megatron_mesh(args_);
    if (args_.split() != MegatronArgs().split()) {
      const std::string split = args_.split();
      split_ = fmt::format(".split_{:016x}", digest_of(split));
    }
    run.format = "megatron-legacy";
    run.named = named_states(others_);
    run.mesh = mesh_.mesh;
    settle_vocabulary(args_, checked_mul(vocabulary_rows_, args_.tp), run.findings);
    run.facts = args_.facts;
    run.steps = {stated_step_ ? stated_step_ : iteration_};
    run.open = [self](std::size_t) { return self->state(); };
    run.owner = self;
    return run;
  }

 private:
  struct Holder {
    std::string directory;
    std::int32_t rank = 0;
    Coordinates at;
    std::unique_ptr<MegatronRank> files;
  };

  Where where(const std::string& directory) const {
    return {root_.given() + "/" + directory, {}, {}};
  }

  /// Arguments and iteration of the first rank that has some.
  void read_arguments() {
    std::optional<Error> first;
    for (const std::string& directory : directories_) {
      try {
        auto read = std::make_unique<MegatronRank>(root_, directory);
        const MegatronRank& rank = *read_.emplace(directory, std::move(read)).first->second;
        if (!iteration_) iteration_ = rank.iteration();
        version_ = rank.version();
        if (!rank.args()) continue;
        args_ = *rank.args();
        vocabulary_rows_ = rank.vocabulary();
        return;
      } catch (const Error& error) {
        if (!first) first = error.at(where(directory));
      }
    }
    if (first) throw *first;
    if (directories_.size() > 1 || rank_numbers(directories_.front()).size() > 1) {
      throw Error(
          "the files hold no args, so that nothing says what the numbers of their "
          "directories mean; a layout file can",
          where(directories_.front()));
    }
  }

  /// Groups that the arguments state otherwise than the directories are named and cut: TT307, and
  /// the directories count.
  void settle_groups(std::vector<Finding>& findings) {
    std::array<std::int64_t, 2> ranks = {1, 1};  // of the first and the second number
    std::int64_t last = 1;                       // of the last one
    bool stages = args_.pp == 1 && args_.ep == 1;
    for (const std::string& directory : directories_) {
      const auto numbers = rank_numbers(directory);
      stages = stages && numbers.size() == 2;
      for (std::size_t i = 0; i < std::min(numbers.size(), ranks.size()); ++i) {
        ranks[i] = std::max(ranks[i], numbers[i] + 1);
      }
      last = std::max(last, numbers.back() + 1);
    }
    std::vector<std::string> wrong;
    if (!args_.contradiction.empty()) {
      wrong.push_back(args_.contradiction);
      if (args_.pp > 1) args_.pp = ranks[1];
      if (args_.ep > 1) args_.ep = last;
    }
    if (const std::int64_t rows = vocabulary_rows_;
        rows > 0 && ranks[0] != args_.tp && checked_mul(rows, args_.tp) != args_.padded_vocab &&
        checked_mul(rows, ranks[0]) == args_.padded_vocab) {
      wrong.push_back(fmt::format("tp is {}, the ranks' parts are cut for {}", args_.tp, ranks[0]));
      if (args_.etp == args_.tp) args_.etp = ranks[0];
      args_.tp = ranks[0];
    }
    if (stages && args_.experts == 0) {
      wrong.push_back(
          fmt::format("pp is {}, the directories are of {} stages", args_.pp, ranks[1]));
      args_.pp = ranks[1];
    } else if (stages) {
      wrong.push_back(fmt::format("ep is {}, the directories are of {} ranks", args_.ep, ranks[1]));
      args_.ep = ranks[1];
    }
    if (wrong.empty()) return;
    fit_world(args_);
    findings.push_back(found(Code::shape_or_dtype,
                             fmt::format("the arguments' groups: {}", fmt::join(wrong, "; ")),
                             args_.where.value_or(Where{})));
  }

  State state() {
    const std::lock_guard lock(mutex_);
    State state;
    std::vector<Holder> holders = find_holders(state);
    for (Holder& holder : holders) read_files(holder, state);
    std::erase_if(holders, [](const Holder& holder) { return !holder.files; });
    std::vector<SavedRank> saved;
    for (const Holder& holder : holders) {
      saved.push_back({holder.directory, holder.rank, holder.files.get(), where(holder.directory)});
    }
    check_saved(args_, saved, stated_step_, state.findings);
    place(holders, experts_by_rank(args_, saved, state.findings), state);
    account(state);
    for (Finding& finding : state.findings) finding.step = stated_step_ ? stated_step_ : iteration_;
    for (Holder& holder : holders) kept_.push_back(std::move(holder.files));
    return state;
  }

  /// The rank of each directory; those without one, and ranks without a directory, are said.
  std::vector<Holder> find_holders(State& state) {
    std::vector<Holder> holders;
    std::set<std::int32_t> there;
    for (const std::string& directory : by_spelling()) {
      const auto place = place_of(rank_numbers(directory), args_.pp > 1, args_.ep > 1);
      const auto rank = place ? mesh_.places.find(*place) : mesh_.places.end();
      std::string problem;
      if (rank == mesh_.places.end()) {
        problem = fmt::format("no rank of tp {}, pp {}, ep {}, as the arguments say, saves as {}",
                              args_.tp, args_.pp, args_.ep, directory);
      } else if (!there.insert(rank->second).second) {
        problem = fmt::format("{} is a second directory of rank {}", directory, rank->second);
      }
      if (problem.empty()) {
        if (!root_.entry(fmt::format("{}/{}", directory, kMegatronFile))) {
          there.erase(rank->second);
          list_unread(directory, false, state);
          continue;
        }
        holders.push_back({directory, rank->second, mesh_.mesh.coordinates(rank->second), {}});
        continue;
      }
      ++state.unreadable;
      Finding finding = found(rank == mesh_.places.end() ? Code::shape_or_dtype : Code::unexpected,
                              std::move(problem), where(directory));
      finding.incomplete = true;
      state.findings.push_back(std::move(finding));
    }
    for (const std::int32_t rank : mesh_.writers) {
      const bool listed = state.missing_ranks.size() == kMaxRanksListed;
      if (!there.contains(rank) && !listed) state.missing_ranks.push_back(rank);
    }
    name_missing(state);
    there.insert(mesh_.writers.begin(), mesh_.writers.end());
    for (std::int32_t rank = 0; rank < args_.world; ++rank) {
      if (!there.contains(rank)) state.silent_ranks.push_back(rank);
    }
    return holders;
  }

  /// The files that the missing ranks would have saved.
  void name_missing(State& state) const {
    std::vector<std::string> files;
    for (const auto& [place, rank] : mesh_.places) {
      if (!std::ranges::binary_search(state.missing_ranks, rank)) continue;
      files.push_back(
          fmt::format("{}/{}", directory_of(place, args_.pp > 1, args_.ep > 1), kMegatronFile));
    }
    if (files.empty()) return;
    state.findings.push_back(
        remark({root_.given(), {}, {}}, "not there: " + named(files), Code::missing_rank));
    state.findings.back().ranks = state.missing_ranks;
  }

  /// Directories spelled as Megatron does come first: what else means the same rank is a second
  /// one.
  std::vector<std::string> by_spelling() const {
    std::vector<std::string> names = directories_;
    std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
      const auto place = place_of(rank_numbers(name), args_.pp > 1, args_.ep > 1);
      return place && name == directory_of(*place, args_.pp > 1, args_.ep > 1);
    });
    return names;
  }

  void read_files(Holder& holder, State& state) {
    try {
      auto read = read_.extract(holder.directory);
      holder.files =
          read ? std::move(read.mapped()) : std::make_unique<MegatronRank>(root_, holder.directory);
    } catch (const Error& error) {
      state.unreadable_ranks.emplace(holder.rank, error.at(where(holder.directory)));
    }
    list_unread(holder.directory, true, state);
  }

  /// Says what lies in a rank's directory that nothing reads: without the model all of it.
  void list_unread(const std::string& directory, bool model, State& state) const {
    for (const Entry& entry : root_.list(directory)) {
      const std::string name = entry.path.substr(entry.path.rfind('/') + 1);
      const bool known = name == kMegatronFile || name == kMegatronBuffers;
      if (known && model) continue;
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, entry.size);
      if (known || !name.ends_with(".pt")) continue;
      Finding finding = odd(where(entry.path), "is not read: its form is not known");
      finding.incomplete = true;
      state.findings.push_back(std::move(finding));
    }
  }

  std::vector<std::vector<ChunkPlace>> places_by_stage(const std::vector<Holder>& holders,
                                                       State& state) {
    std::size_t chunks = static_cast<std::size_t>(args_.vpp);
    for (const Holder& holder : holders) chunks = std::max(chunks, holder.files->chunks());
    MegatronArgs cut = args_;
    cut.vpp = static_cast<std::int64_t>(chunks);
    const auto stages = static_cast<std::size_t>(args_.pp);
    if (checked_mul(stages, chunks) > kMaxChunks) {
      throw Error::unable(fmt::format("limit reached: {} stages of {} chunks", stages, chunks),
                          {root_.given(), {}, {}});
    }
    std::vector<std::optional<std::int64_t>> held(stages * chunks);
    for (const Holder& holder : holders) {
      const auto stage = static_cast<std::size_t>(coordinate(holder.at, "pp"));
      for (std::size_t v = 0; v < holder.files->chunks(); ++v) {
        auto& count = held[v * stages + stage];
        count = std::max(count.value_or(0), holder.files->layers(v));
      }
    }
    const auto firsts = first_layers(cut, held, state.findings);
    std::vector<std::vector<ChunkPlace>> places(stages);
    for (std::size_t c = 0; c < held.size(); ++c) {
      places[c % stages].push_back({c < firsts.size() ? firsts[c] : 0, 0, false});
    }
    return places;
  }

  /// `experts`: that each rank holds.
  void place(std::vector<Holder>& holders, std::int64_t experts, State& state) {
    const auto stages = places_by_stage(holders, state);
    MegatronPlacing placing(args_, version_);
    ShapeCheck shapes(args_);
    RankFacts facts;
    MegatronNeighbours neighbours;
    for (const Holder& holder : holders) {
      neighbours.ranks.emplace_back(holder.directory, holder.files.get());
    }
    for (Holder& holder : holders) {
      std::vector<ChunkPlace> places =
          stages[static_cast<std::size_t>(coordinate(holder.at, "pp"))];
      for (ChunkPlace& one : places) {
        one.first_expert = checked_mul(coordinate(holder.at, "ep"), experts);
        one.tied_head = !args_.untied && !holder.files->has_embedding();
      }
      State part = holder.files->read(args_, places, neighbours);
      take_facts(holder, part, facts, state);
      for (Finding& finding : part.findings) {
        finding.ranks = {holder.rank};
        state.findings.push_back(std::move(finding));
      }
      state.unreadable += part.unreadable;
      state.bytes_unclaimed = checked_add(state.bytes_unclaimed, part.bytes_unclaimed);
      for (Record& record : part.records) {
        record.piece.rank = holder.rank;
        record.at = holder.at;
        if (placing.place(record)) shapes.check(record, state.findings);
        state.records.push_back(std::move(record));
      }
    }
    placing.leave_out_unplaced(state);
  }

  void take_facts(const Holder& holder, State& part, RankFacts& facts, State& state) const {
    if (const auto iteration = holder.files->iteration()) {
      part.facts.push_back({"iteration", *iteration, FactUse::compared, where(holder.directory)});
    }
    for (Fact& fact : part.facts) {
      if (!fact.name.starts_with("rng.")) continue;
      fact.name += fmt::format("{}.rank.{}", split_, holder.rank);
    }
    facts.take(part.facts, holder.rank, state.facts);
  }

  void account(State& state) const {
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, others_.rest_bytes);
    std::ranges::move(rest_beside(others_, root_), std::back_inserter(state.findings));
  }

  const Root& root_;
  std::optional<std::int64_t> stated_step_, iteration_;
  Beside others_;
  std::vector<std::string> directories_;
  std::map<std::string, std::unique_ptr<MegatronRank>> read_;  ///< for arguments, until taken
  MegatronArgs args_;
  std::int64_t vocabulary_rows_ = 0;  ///< of the embedding, on one rank; 0: not known
  double version_ = 0;
  MegatronMesh mesh_;
  std::string split_;  ///< of generators' facts: they also depend on how layers are cut
  std::mutex mutex_;
  std::vector<std::unique_ptr<MegatronRank>> kept_;  ///< own what records point to
};

Bid bid_megatron_legacy(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  for (const std::string& name : rank_directories(probe)) {
    if (probe.root.entry(fmt::format("{}/{}", name, kMegatronFile))) return Bid::megatron_legacy;
  }
  return Bid::none;
}

Run open_megatron_legacy(const Probe& probe, const OpenOptions&) {
  const auto checkpoint = std::make_shared<Checkpoint>(probe);
  return checkpoint->open(checkpoint);
}

}  // namespace

const Format kMegatronLegacy = {"megatron-legacy",
                                "a directory a model-parallel rank, as Megatron-LM saves them",
                                bid_megatron_legacy, open_megatron_legacy};

}  // namespace ttcheck::formats
