// SPDX-License-Identifier: Apache-2.0
// dcp-hf: a distributed checkpoint in safetensors files, as torch's HuggingFaceStorageWriter leaves
// it (torch/distributed/checkpoint/hf_storage.py, _hf_utils.py): `shard-R-model-I-of-N.safetensors`
// of rank R - 1, whose metadata say where each tensor's part starts. There is no table: a tensor is
// as large as its parts reach. With consolidation these lie in `sharded/`, beside the whole
// tensors; both copies are read and held against each other.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/checked.hpp"
#include "core/base/name_map.hpp"
#include "formats/arrays/safetensors_header.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/folder/shard_name.hpp"
#include "formats/hf/config.hpp"
#include "formats/hf/weights.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kShards = "sharded";
constexpr std::string_view kOffsets = "DCP_SHARDING_INFO";
constexpr std::uint64_t kMaxConfig = 64ULL << 20;

struct ShardFile {
  std::string path;
  std::int32_t rank = 0;
  std::int64_t part = 0, parts = 0;  ///< the model's I of N
};

/// A name of the form `shard-00001-model-00001-of-00003.safetensors`.
std::optional<ShardFile> parse_shard(std::string_view name) {
  constexpr std::string_view kStart = "shard-";
  const auto shard = parse_shard_name(name);
  if (!shard || shard->after != ".safetensors" || !shard->before.starts_with(kStart)) return {};
  const std::string_view rest = std::string_view(shard->before).substr(kStart.size());
  std::int32_t number = 0;
  std::size_t digits = 0;
  for (; digits < rest.size() && digits < 9 && rest[digits] >= '0' && rest[digits] <= '9';
       ++digits) {
    number = number * 10 + (rest[digits] - '0');
  }
  if (number < 1 || !rest.substr(digits).starts_with("-model")) return {};
  return ShardFile{std::string(name), number - 1, shard->number, shard->total};
}

std::vector<ShardFile> shards_in(const Root& root, std::string_view folder) {
  std::vector<ShardFile> shards;
  for (const Entry& entry : root.list(folder)) {
    if (entry.kind != EntryKind::file) continue;
    auto shard = parse_shard(std::string_view(entry.path).substr(entry.path.rfind('/') + 1));
    if (!shard) continue;
    shard->path = entry.path;
    shards.push_back(std::move(*shard));
  }
  std::ranges::sort(shards, {}, &ShardFile::rank);
  return shards;
}

Bid bid_dcp_hf(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  const auto is_shard = [](const std::string& name) { return parse_shard(name).has_value(); };
  const bool here = std::ranges::any_of(probe.names, is_shard);
  const bool below = std::binary_search(probe.names.begin(), probe.names.end(), kShards);
  try {
    if (here && !shards_in(probe.root, "").empty()) return Bid::dcp_hf;
    return below && !shards_in(probe.root, kShards).empty() ? Bid::dcp_hf : Bid::none;
  } catch (const Error&) {
    return Bid::none;
  }
}

using Offsets = NameMap<Extents>;

/// The start of each tensor's part; one that is not named starts at its origin.
Offsets offsets_of(const SafetensorsHeader& header, const Where& where) {
  Offsets offsets;
  for (const auto& [key, text] : header.metadata) {
    if (key != kOffsets) continue;
    const JsonDocument document(text, where.file);
    for (const auto& [name, info] : document.root().members()) {
      const auto saved = info.find("saved_offsets");
      if (!saved) continue;
      Extents at;
      for (const Json& number : saved->items()) at.push_back(number.integer());
      offsets.insert_or_assign(std::string(name), std::move(at));
    }
  }
  return offsets;
}

class Checkpoint {
 public:
  explicit Checkpoint(const Probe& probe) : probe_(probe), root_(probe.root) {
    shards_ = shards_in(root_, "");
    if (shards_.empty()) {
      shards_ = shards_in(root_, kShards);
      consolidated_ = find_weights(root_, probe.names);
    }
    if (shards_.empty()) throw Error("its shards are no longer there", {root_.given(), {}, {}});
    account();
  }

  Run run(const std::shared_ptr<Checkpoint>& self) {
    Run run;
    run.format = "dcp-hf";
    run.named = named_;
    run.steps = {std::nullopt};
    if (std::binary_search(probe_.names.begin(), probe_.names.end(), "config.json")) {
      try {
        const JsonDocument document(root_.text("config.json", kMaxConfig),
                                    root_.file("config.json").where(0).file);
        run.facts = config_facts(document.root());
      } catch (const Error& error) {
        run.findings.push_back(unreadable(error));
      }
    }
    Checkpoint* const raw = self.get();
    run.open = [raw](std::size_t) { return raw->state(); };
    run.owner = self;
    return run;
  }

 private:
  /// A tensor of the consolidated files.
  struct Whole {
    const Source* source = nullptr;
    SafetensorsEntry entry;
    bool used = false;
  };

  void account() {
    const Beside others = beside(probe_, [&](const Entry& entry) {
      return entry.path == kShards || entry.path.ends_with(".json") || parse_shard(entry.path) ||
             std::ranges::find(consolidated_.files, entry.path) != consolidated_.files.end();
    });
    unclaimed_ = others.rest_bytes;
    named_ = named_states(others);
    for (Finding& finding : rest_beside(others, root_)) findings_.push_back(std::move(finding));
    for (const Finding& finding : consolidated_.findings) findings_.push_back(finding);
  }

  State state() {
    State state;
    state.findings = findings_;
    state.bytes_unclaimed = unclaimed_;
    find_missing(state);
    for (const ShardFile& shard : shards_) {
      try {
        read_shard(shard, state);
      } catch (const Error& error) {
        const bool first = state.unreadable_ranks.emplace(shard.rank, error).second;
        if (!first) state.findings.push_back(unreadable(error));
      }
    }
    for (Record& record : state.records) record.logical = reach_.at(record.identity.name);
    read_consolidated(state);
    add_only_whole(state);
    reach_.clear();
    return state;
  }

  /// Ranks and parts of the model without a file; the last rank's cannot be told.
  void find_missing(State& state) const {
    std::set<std::int32_t> ranks;
    std::map<std::int64_t, std::set<std::int32_t>> parts;
    for (const ShardFile& shard : shards_) {
      ranks.insert(shard.rank);
      parts[shard.part].insert(shard.rank);
    }
    for (std::int32_t rank = 0; rank < *ranks.rbegin(); ++rank) {
      if (state.missing_ranks.size() == kMaxRanksListed) break;
      if (!ranks.contains(rank)) state.missing_ranks.push_back(rank);
    }
    const Where where{root_.given(), {}, {}};
    Findings findings;
    const std::int64_t all = std::min<std::int64_t>(shards_.front().parts, kMaxRanksListed);
    for (std::int64_t part = 1; part <= all; ++part) {
      const auto held = parts.find(part);
      if (held == parts.end()) {
        findings.add(damaged(where, fmt::format("no rank has part {} of the {} of the model", part,
                                                shards_.front().parts)));
        continue;
      }
      for (const std::int32_t rank : ranks) {
        if (held->second.contains(rank)) continue;
        findings.add(odd(where,
                         fmt::format("rank {} has no file for part {} of {}, others have one", rank,
                                     part, shards_.front().parts),
                         Code::torn));
      }
    }
    for (Finding& finding : findings.take()) state.findings.push_back(std::move(finding));
  }

  void read_shard(const ShardFile& shard, State& state) {
    const Source& source = root_.file(shard.path);
    SafetensorsHeader header = read_safetensors_header(source);
    const Offsets offsets = offsets_of(header, source.where(8));
    for (Finding& finding : header.findings) {
      finding.ranks = {shard.rank};
      state.findings.push_back(std::move(finding));
    }
    state.bytes_unclaimed = checked_add(state.bytes_unclaimed, header.unclaimed);
    state.unreadable = checked_add(state.unreadable, header.unreadable);
    for (SafetensorsEntry& entry : header.tensors) {
      const auto known = offsets.find(entry.name);
      Extents at = known == offsets.end() ? Extents(entry.shape.size(), 0) : known->second;
      Shape& reach = reach_.try_emplace(entry.name, at.size(), 0).first->second;
      const bool fits = at.size() == entry.shape.size() && reach.size() == at.size() &&
                        std::ranges::all_of(at, [](std::int64_t lo) { return lo >= 0; });
      if (!fits) {
        Finding finding = damaged(source.where(8),
                                  fmt::format("{} of shape [{}] cannot start at [{}]", entry.name,
                                              fmt::join(entry.shape, ", "), fmt::join(at, ", ")));
        finding.tensor = entry.name;
        finding.ranks = {shard.rank};
        state.findings.push_back(std::move(finding));
        ++state.unreadable;
        continue;
      }
      for (std::size_t d = 0; d < at.size(); ++d) {
        reach[d] = std::max(reach[d], checked_add(at[d], entry.shape[d]));
      }
      state.records.push_back(record_of(entry, source, shard.rank));
      state.records.back().box_lo = std::move(at);
    }
  }

  static Record record_of(const SafetensorsEntry& entry, const Source& source, std::int32_t rank) {
    Record record;
    record.identity.name = entry.name;
    record.kind = kind_of_name(entry.name);
    record.dtype = entry.dtype;
    record.shape = entry.shape;
    record.piece.source = &source;
    record.piece.offset = entry.begin;
    record.piece.dtype = entry.dtype;
    record.piece.rank = rank;
    return record;
  }

  /// The whole tensors, each cut as the ranks cut theirs, so that every box has both copies.
  void read_consolidated(State& state) {
    NameMap<Whole> wholes;
    for (const std::string& path : consolidated_.files) {
      try {
        const Source& source = root_.file(path);
        SafetensorsHeader header = read_safetensors_header(source);
        for (Finding& finding : header.findings) state.findings.push_back(std::move(finding));
        state.bytes_unclaimed = checked_add(state.bytes_unclaimed, header.unclaimed);
        state.unreadable = checked_add(state.unreadable, header.unreadable);
        for (SafetensorsEntry& entry : header.tensors) {
          std::string name = entry.name;
          wholes.try_emplace(std::move(name), Whole{&source, std::move(entry)});
        }
      } catch (const Error& error) {
        state.findings.push_back(unreadable(error));
        ++state.unreadable;
      }
    }
    if (consolidated_.index) hold_to_index(*consolidated_.index, wholes, state);
    if (wholes.empty()) return;
    const std::size_t count = state.records.size();
    std::set<std::string> told;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string& name = state.records[i].identity.name;
      const auto whole = wholes.find(name);
      if (whole == wholes.end()) {
        if (!told.insert(name).second) continue;
        state.findings.push_back(found(Code::omission,
                                       "the ranks have this tensor, the consolidated files do not",
                                       {root_.given(), {}, {}}, name));
        continue;
      }
      whole->second.used = true;
      cut(whole->second, i, told, state);
    }
    for (const auto& [name, whole] : wholes) {
      if (!whole.used) only_whole_.push_back({name, whole});
    }
    std::ranges::sort(only_whole_, {}, &std::pair<std::string, Whole>::first);
  }

  /// Tensors that the index lists and no consolidated file holds, and the other way round.
  void hold_to_index(const WeightIndex& index, const NameMap<Whole>& wholes, State& state) const {
    const Where where{root_.given() + "/" + index.file, {}, {}};
    Findings findings;
    for (const auto& [name, shard] : index.shard_of) {
      if (wholes.contains(name) || !std::ranges::binary_search(consolidated_.files, shard))
        continue;
      findings.add(found(Code::omission,
                         fmt::format("{} is to hold this tensor, and does not", shard), where,
                         name));
    }
    for (const auto& [name, whole] : wholes) {
      if (index.shard_of.contains(name)) continue;
      Finding unlisted = odd(where, "the index does not list this tensor", Code::unexpected);
      unlisted.tensor = name;
      findings.add(std::move(unlisted));
    }
    for (Finding& finding : findings.take()) state.findings.push_back(std::move(finding));
  }

  void cut(const Whole& whole, std::size_t i, std::set<std::string>& told, State& state) const {
    const Record& part = state.records[i];
    const SafetensorsEntry& entry = whole.entry;
    if (entry.shape != *part.logical || entry.dtype != part.dtype) {
      if (!told.insert(entry.name).second) return;
      state.findings.push_back(
          found(Code::shape_or_dtype,
                fmt::format("{} is {}[{}] in the consolidated files, {}[{}] over the ranks",
                            entry.name, name(entry.dtype), fmt::join(entry.shape, ", "),
                            name(part.dtype), fmt::join(*part.logical, ", ")),
                whole.source->where(entry.begin), entry.name));
      return;
    }
    if (element_count(part.shape) == 0) return;
    Record copy = record_of(entry, *whole.source, kNoRank);
    copy.shape = part.shape;
    copy.logical = part.logical;
    copy.box_lo = part.box_lo;
    copy.piece.cells = {{ttcheck::whole(part.shape), linear_index(entry.shape, *part.box_lo),
                         row_major_strides(entry.shape)}};
    state.records.push_back(std::move(copy));
  }

  void add_only_whole(State& state) {
    for (auto& [name, whole] : only_whole_) {
      state.records.push_back(record_of(whole.entry, *whole.source, kNoRank));
      if (state.missing_ranks.empty() && state.unreadable_ranks.empty()) {
        state.findings.push_back(odd(
            whole.source->where(whole.entry.begin),
            fmt::format("{} is in the consolidated files and on no rank", name), Code::omission));
      }
    }
    only_whole_.clear();
  }

  const Probe probe_;
  const Root& root_;
  std::vector<ShardFile> shards_;
  WeightFiles consolidated_;
  std::vector<Finding> findings_;
  std::vector<NamedState> named_;
  std::uint64_t unclaimed_ = 0;
  NameMap<Shape> reach_;  ///< of each tensor, as far as its parts go
  std::vector<std::pair<std::string, Whole>> only_whole_;
};

Run open_dcp_hf(const Probe& probe, const OpenOptions&) {
  const auto checkpoint = std::make_shared<Checkpoint>(probe);
  return checkpoint->run(checkpoint);
}

}  // namespace

const Format kDcpHf = {"dcp-hf", "safetensors files of ranks, by PyTorch's Hugging Face writer",
                       bid_dcp_hf, open_dcp_hf};

}  // namespace ttcheck::formats
