// SPDX-License-Identifier: Apache-2.0
// fsdp-rank-files: a torch file for each rank, or for each rank and role, with FSDP's sharded state
// dicts inside. Where a part lies is in the pickled tensors; which rank's it is in the file's name,
// which is what a loader goes by.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/folder/json_facts.hpp"
#include "formats/folder/rank_name.hpp"
#include "formats/rank_files/agreement.hpp"
#include "formats/rank_files/flat_views.hpp"
#include "formats/ranks/facts.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/state.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kConfig = "fsdp_config.json";
constexpr std::uint64_t kMaxConfig = std::uint64_t{1} << 20;
/// Looks at all distributed tensors of a rank's file.
DistributedReader look_through(const TorchFile& file, std::int32_t rank) {
  DistributedReader reader(file, rank);
  TorchPart part;
  part.rank = rank;
  part.distributed = &reader;
  torch_state(file, part);
  return reader;
}

bool has_distributed(const DistributedReader& reader) {
  return !reader.ranks().empty() || !reader.meshes().empty();
}

/// verl's names are ours. Others may as well be a folder of independent files, or want a layout; of
/// several sets of files none is the run.
Bid bid_fsdp_rank_files(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  std::string_view first;
  std::array<std::string, kRankRoles> set_of;
  std::set<std::pair<RankRole, std::int32_t>> taken;
  bool one_set = true;
  for (const std::string& name : probe.names) {
    const auto file = rank_file_name(name);
    if (!file) continue;
    if (file->world > 0 && file->behind == ".pt") return Bid::fsdp_named;
    if (first.empty()) first = name;
    std::string& set = set_of[static_cast<std::size_t>(file->role)];
    if (set.empty()) set = file->around();
    one_set = one_set && set == file->around() && taken.emplace(file->role, file->rank).second;
  }
  if (first.empty() || !one_set) return Bid::none;
  try {
    const TorchFile file = read_torch(probe.root.file(std::string(first)));
    return has_distributed(look_through(file, rank_file_name(first)->rank)) ? Bid::fsdp_distributed
                                                                            : Bid::none;
  } catch (const Error&) {
    return Bid::none;
  }
}

/// Files whose names differ by the rank's number alone.
struct RankSet {
  RankFileName one;
  std::map<std::int32_t, std::string> names;  ///< by rank

  /// False where the rank has a file already.
  bool add(RankFileName file, const std::string& name) {
    const bool fresh = names.emplace(file.rank, name).second;
    one = std::move(file);
    return fresh;
  }
};

class FsdpRankFiles {
 public:
  explicit FsdpRankFiles(const Probe& probe) : root_(probe.root) {}

  Run open(const Probe& probe, const std::shared_ptr<FsdpRankFiles>& self) {
    Run run;
    run.format = "fsdp-rank-files";
    run.steps = {std::nullopt};
    const auto stated = read_config(probe, run);
    choose_files(probe, stated, run.findings);
    account(probe, run);
    mesh_ = run.mesh = find_mesh();
    if (!named_world_) world_ = std::max(world_, mesh_.world_size());
    run.open = [self](std::size_t) { return self->state(); };
    run.close = [self] { return self->root_.changed(); };
    run.owner = self;
    return run;
  }

 private:
  Where place(std::string_view name) const {
    return {root_.given() + "/" + std::string(name), {}, {}};
  }

  /// The number of ranks that fsdp_config.json states.
  std::optional<std::int64_t> read_config(const Probe& probe, Run& run) const {
    if (!std::ranges::binary_search(probe.names, kConfig)) return std::nullopt;
    try {
      const JsonDocument document(root_.text(kConfig, kMaxConfig),
                                  root_.file(kConfig).where(0).file);
      for (Fact& fact : note_facts(document.root(), "fsdp")) run.facts.push_back(std::move(fact));
    } catch (const Error& error) {
      run.findings.push_back(unreadable(error));
    }
    const Fact* world = find_fact(run.facts, "fsdp.world_size");
    const auto* number = world == nullptr ? nullptr : std::get_if<std::int64_t>(&world->value);
    return number == nullptr ? std::nullopt : std::optional(*number);
  }

  /// The files of one world: the stated one, or that of most files. Others are left over from
  /// another save.
  void choose_files(const Probe& probe, std::optional<std::int64_t> stated,
                    std::vector<Finding>& findings) {
    std::map<std::string, RankSet> all;          // by what is around the number
    std::vector<std::string> others, further;    // left over from another save; not one of a set
    std::map<std::int64_t, std::size_t> counts;  // by world; 0: names do not state it
    for (const std::string& name : probe.names) {
      const auto file = rank_file_name(name);
      if (!file) continue;
      if (!all[file->around()].add(*file, name)) further.push_back(name);
      ++counts[file->world];
    }
    const auto most =
        std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
    world_ = stated && counts.contains(*stated) ? *stated : most->first;
    for (auto& [around, set] : all) {
      const bool another = set.one.world != world_;
      RankSet& chosen = files_[static_cast<std::size_t>(set.one.role)];
      if (!another && set.names.size() > chosen.names.size()) std::swap(set, chosen);
      for (const auto& [rank, name] : set.names) (another ? others : further).push_back(name);
    }
    for (const auto* list : {&others, &further}) {
      for (const std::string& name : *list) {
        if (const auto entry = root_.entry(name)) unclaimed_ = checked_add(unclaimed_, entry->size);
      }
    }
    named_world_ = world_ > 0;
    if (!named_world_) world_ = std::int64_t{*ranks().rbegin()} + 1;
    if (!further.empty()) {
      findings.push_back(found(
          Code::unreadable,
          fmt::format("more files than one of a rank; these are not read: {}", named(further)),
          place(further.front())));
      findings.back().incomplete = true;
    }
    if (stated && *stated != world_) {
      findings.push_back(found(
          Code::mixed_step,
          fmt::format("states {} ranks, the files are named by a world of {}", *stated, world_),
          place(kConfig)));
    }
    if (others.empty()) return;
    findings.push_back(found(Code::mixed_step,
                             fmt::format("files of another number of ranks than {} are left over "
                                         "from another save, and not read: {}",
                                         world_, named(others)),
                             place(others.front())));
  }

  void account(const Probe& probe, Run& run) {
    const Beside others = beside(probe, [](const Entry& entry) {
      return entry.path == kConfig || entry.path.ends_with(".json") ||
             rank_file_name(entry.path).has_value();
    });
    unclaimed_ = checked_add(unclaimed_, others.rest_bytes);
    run.named = named_states(others);
    std::ranges::move(rest_beside(others, root_), std::back_inserter(run.findings));
  }

  const TorchFile& torch_file(const std::string& name) {
    const auto known = opened_.find(name);
    if (known != opened_.end()) return *known->second;
    auto file = std::make_unique<const TorchFile>(read_torch(root_.file(name)));
    return *opened_.emplace(name, std::move(file)).first->second;
  }

  /// The axes that the first readable file's tensors name.
  Mesh find_mesh() {
    for (const RankSet& role : files_) {
      for (const auto& [rank, name] : role.names) {
        try {
          const TorchFile& file = torch_file(name);
          if (auto mesh = run_mesh(look_through(file, rank), world_)) return std::move(*mesh);
        } catch (const Error&) {
          continue;  // said when its state is read
        }
      }
    }
    return {};
  }

  State state() {
    State state;
    state.bytes_unclaimed = unclaimed_;
    Agreement agreement(world_);
    RankFacts facts;
    for (const std::int32_t rank : ranks()) {
      for (const RankSet& role : files_) {
        const auto file = role.names.find(rank);
        if (file == role.names.end()) continue;
        try {
          read(file->second, role, rank, agreement, facts, state);
        } catch (const Error& error) {
          const bool first =
              state.unreadable_ranks.emplace(rank, error.at(place(file->second))).second;
          if (first) continue;
          state.findings.push_back(unreadable(error.at(place(file->second))));
          state.findings.back().ranks = {rank};
        }
      }
    }
    find_missing(state);
    leave_out_unplaced(state);
    for (Finding& finding : agreement.findings()) state.findings.push_back(std::move(finding));
    return state;
  }

  /// Ranks that have a file.
  std::set<std::int32_t> ranks() const {
    std::set<std::int32_t> all;
    for (const RankSet& role : files_) {
      for (const auto& [rank, name] : role.names) all.insert(rank);
    }
    return all;
  }

  /// The files that hold the model.
  const RankSet& models() const {
    const RankSet& own = files_[static_cast<std::size_t>(RankRole::model)];
    return own.names.empty() ? files_[static_cast<std::size_t>(RankRole::whole)] : own;
  }

  /// The parameters as a rank's optimizer counts them: all ranks count alike, so where its own
  /// model file is not there or cannot be read another's will do.
  std::vector<Candidate> parameters_of(std::int32_t rank) {
    const auto& named = models().names;
    const auto own = named.find(rank);
    if (own != named.end()) {
      try {
        return torch_parameters(torch_file(own->second));
      } catch (const Error&) {  // said when its state is read
      }
    }
    if (any_parameters_) return *any_parameters_;
    any_parameters_.emplace();
    for (const auto& [other, name] : named) {
      try {
        any_parameters_ = torch_parameters(torch_file(name));
        break;
      } catch (const Error&) {
        continue;
      }
    }
    return *any_parameters_;
  }

  /// The rank under whose name the file was written, if that was one of this role and world.
  static std::int64_t writer_of(const TorchFile& file, const RankSet& role, std::int32_t rank) {
    const auto wrote = rank_file_name(file.saved_as() + ".pt");
    return wrote && wrote->before == role.one.before ? wrote->rank : rank;
  }

  void read(const std::string& name, const RankSet& role, std::int32_t rank, Agreement& agreement,
            RankFacts& facts, State& out) {
    const TorchFile& file = torch_file(name);
    DistributedReader reader(file, rank);
    TorchPart part;
    part.rank = rank;
    part.distributed = &reader;
    if (role.one.role == RankRole::optimizer) {
      part.role = TorchPart::Role::optimizer;
      part.parameters = parameters_of(rank);
    }
    if (role.one.role == RankRole::extra) part.role = TorchPart::Role::extra;
    State state = torch_state(file, part);
    agreement.written_by(writer_of(file, role, rank), rank, place(name));
    agreement.take(name, role.one.before, rank, reader, state);
    facts.take(state.facts, rank, out.facts);
    if (const std::size_t views = leave_out_flat_views(state.records); views != 0) {
      state.findings.push_back(remark(
          place(name), fmt::format("{} parameters are views of flat ones, without their shapes: "
                                   "the flat ones are read",
                                   views)));
    }
    for (Finding& finding : state.findings) agreement.say(std::move(finding), rank);
    out.bytes_unclaimed = checked_add(out.bytes_unclaimed, state.bytes_unclaimed);
    out.unreadable = checked_add(out.unreadable, state.unreadable);
    const bool extra = role.one.role == RankRole::extra;
    distributed_ = distributed_ || (!extra && has_distributed(reader));
    for (Record& record : state.records) {
      if (fits_mesh(record, agreement)) {
        out.records.push_back(std::move(record));
      } else {
        ++out.unreadable;
      }
    }
  }

  /// A record's axes must be those of the run: an index beyond their sizes would cut nothing.
  bool fits_mesh(const Record& record, Agreement& agreement) const {
    for (const auto& [axis, at] : record.at) {
      if (at < mesh_.size_of(axis)) continue;
      agreement.say(found(Code::unreadable,
                          fmt::format("lies at {} of mesh axis {}, which has {} ranks in this run",
                                      at, axis, mesh_.size_of(axis)),
                          record.piece.where(), record.identity.name),
                    record.piece.rank);
      return false;
    }
    return true;
  }

  /// Ranks without the file that others have.
  void find_missing(State& state) {
    std::set<std::int32_t> missing;
    for (const RankSet& role : files_) {
      if (role.names.empty()) continue;
      for (std::int64_t number = 0; number < world_; ++number) {
        const auto rank = static_cast<std::int32_t>(number);
        if (role.names.contains(rank)) continue;
        if (role.one.role != RankRole::extra && !state.unreadable_ranks.contains(rank)) {
          if (missing.size() < kMaxRanksListed) missing.insert(rank);
          continue;
        }
        Finding finding = found(Code::missing_rank, "the file of this rank is not there",
                                place(role.one.of(rank)));
        finding.ranks = {rank};
        finding.incomplete = true;
        state.findings.push_back(std::move(finding));
        if (state.findings.size() > kMaxRanksListed) break;
      }
    }
    state.missing_ranks.assign(missing.begin(), missing.end());
  }

  /// Plain tensors beside distributed ones are whole on every rank. Where there are none of those,
  /// nothing says whether files of several ranks hold copies or parts.
  void leave_out_unplaced(State& state) const {
    if (world_ == 1 || distributed_ || state.records.empty()) return;
    std::set<std::string> names;
    for (const Record& record : state.records) names.insert(record.identity.name);
    const RankFileName& one = models().one;
    state.findings.push_back(
        found(Code::unreadable,
              fmt::format("the files of {} ranks hold {} plain tensors, and nothing says whether "
                          "they are copies or in which dimension they are cut: a layout file with "
                          "pattern \"{}{{rank}}{}\" can (verl's merger would join them along "
                          "dimension 0)",
                          world_, names.size(), one.before, one.behind),
              state.records.front().piece.where()));
    state.unreadable = checked_add(state.unreadable, static_cast<std::int64_t>(names.size()));
    state.records.clear();
  }

  const Root& root_;
  std::int64_t world_ = 1;
  bool named_world_ = true;                                         ///< the files' names state it
  std::array<RankSet, kRankRoles> files_;                           ///< by role
  std::map<std::string, std::unique_ptr<const TorchFile>> opened_;  ///< what records point to
  bool distributed_ = false;                                        ///< a tensor's part was there
  std::optional<std::vector<Candidate>> any_parameters_;  ///< of the first readable model file
  Mesh mesh_;
  std::uint64_t unclaimed_ = 0;
};

Run open_fsdp_rank_files(const Probe& probe, const OpenOptions&) {
  const auto files = std::make_shared<FsdpRankFiles>(probe);
  return files->open(probe, files);
}

}  // namespace

const Format kFsdpRankFiles = {"fsdp-rank-files",
                               "one torch file a rank, with FSDP's distributed tensors inside",
                               bid_fsdp_rank_files, open_fsdp_rank_files};

}  // namespace ttcheck::formats
