// SPDX-License-Identifier: Apache-2.0
// dcp: a PyTorch distributed checkpoint: the table `.metadata`, or one table a rank where ranks
// saved without talking to one another, and the data files `__R_n.distcp`.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "core/base/checked.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/dcp/lightning.hpp"
#include "formats/dcp/values.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/ranks/file_steps.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kTable = ".metadata";
constexpr std::string_view kUnfinished = ".metadata.tmp";

bool has(const Probe& probe, std::string_view name) {
  return std::binary_search(probe.names.begin(), probe.names.end(), name);
}

bool is_data_file(std::string_view name) { return name.ends_with(".distcp"); }

/// The rank whose own table a file is: `__R.metadata`.
std::int32_t rank_of_table(std::string_view name) {
  if (!name.starts_with("__") || !name.ends_with(kTable)) return kNoRank;
  const std::string_view digits = name.substr(2, name.size() - kTable.size() - 2);
  std::int32_t rank = kNoRank;
  const auto [end, bad] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  return bad == std::errc{} && end == digits.data() + digits.size() && rank >= 0 ? rank : kNoRank;
}

bool is_pickle(const Root& root, std::string_view path) {
  const auto entry = root.entry(path);
  if (!entry || entry->kind != EntryKind::file || entry->size < 2) return false;
  try {
    std::array<std::byte, 2> head{};
    root.file(path).read(0, head);
    return head[0] == std::byte{0x80} && head[1] >= std::byte{2} && head[1] <= std::byte{5};
  } catch (const Error&) {
    return false;
  }
}

Bid bid_dcp(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  const bool data = std::ranges::any_of(probe.names, is_data_file);
  const bool own = std::ranges::any_of(
      probe.names, [](const auto& name) { return rank_of_table(name) != kNoRank; });
  if (has(probe, kTable) && (data || is_pickle(probe.root, kTable))) return Bid::dcp;
  if (own && data) return Bid::dcp;
  return data ? Bid::dcp_torn : Bid::none;
}

/// A table and the files that it describes.
struct Table {
  std::shared_ptr<const DcpMetadata> metadata;
  std::int32_t rank = kNoRank;  ///< of a rank's own table
};

class Checkpoint {
 public:
  explicit Checkpoint(const Probe& probe)
      : probe_(probe), root_(probe.root), lightning_(probe.root) {
    names_ = probe.names;
    if (has(probe, kTable)) {
      tables_.push_back({read(kTable), kNoRank});
      note_leftovers();
    } else {
      read_own_tables();
      if (tables_.empty()) salvage();
    }
    account();
  }

  Run run(const std::shared_ptr<Checkpoint>& self) {
    Run run;
    run.format = "dcp";
    run.named = named_;
    run.steps = {std::nullopt};
    for (const Table& table : tables_) {
      if (table.metadata->version.empty()) continue;
      run.facts.push_back(
          {"dcp.version", table.metadata->version, FactUse::note, table.metadata->where});
      break;
    }
    Checkpoint* const raw = self.get();
    run.open = [raw](std::size_t) { return raw->state(); };
    run.owner = self;
    return run;
  }

 private:
  std::shared_ptr<const DcpMetadata> read(std::string_view name) const {
    return std::make_shared<const DcpMetadata>(read_dcp_metadata(root_.file(name)));
  }

  void note_leftovers() {
    for (const std::string& name : names_) {
      if (name != kUnfinished && rank_of_table(name) == kNoRank) continue;
      findings_.push_back(odd({root_.given() + "/" + name, {}, {}},
                              "a second table lies beside .metadata, which is the one read",
                              Code::torn));
    }
  }

  void read_own_tables() {
    std::set<std::int32_t> ranks;
    for (const std::string& name : names_) {
      const std::int32_t rank = rank_of_table(name);
      if (rank == kNoRank) continue;
      ranks.insert(rank);
      try {
        tables_.push_back({read(name), rank});
      } catch (const Error& error) {
        lost_.emplace(rank, error);
      }
    }
    if (ranks.empty()) return;
    if (tables_.empty()) throw lost_.begin()->second;
    std::ranges::sort(tables_, {}, &Table::rank);
    for (const std::string& name : names_) {
      const std::int32_t rank = is_data_file(name) ? rank_of_data_file(name) : kNoRank;
      if (rank == kNoRank || !ranks.insert(rank).second) continue;
      lost_.emplace(rank,
                    Error(fmt::format("rank {} has data files and no table __{}.metadata: what "
                                      "they hold cannot be told",
                                      rank, rank),
                          {root_.given() + "/" + name, {}, {}}));
    }
    for (std::int32_t rank = 0; rank < *ranks.rbegin(); ++rank) {
      if (missing_.size() == kMaxRanksListed) break;
      if (!ranks.contains(rank)) missing_.push_back(rank);
    }
  }

  /// Data without a table: the save was never finished, since the table is written last.
  void salvage() {
    Finding torn = found(Code::torn,
                         "data files without the table .metadata, which a save writes last: this "
                         "save was not finished",
                         {root_.given(), {}, {}});
    torn.incomplete = true;
    if (has(probe_, kUnfinished)) {
      try {
        tables_.push_back({read(kUnfinished), kNoRank});
        torn.message = "the table is still called .metadata.tmp: this save was not finished";
        torn.incomplete = false;
      } catch (const Error& error) {
        findings_.push_back(unreadable(error));
      }
    }
    if (tables_.empty()) {
      const auto files = std::ranges::count_if(names_, is_data_file);
      torn.message += fmt::format("; what its {} data files hold cannot be told", files);
      ++unreadable_;
    }
    findings_.push_back(std::move(torn));
  }

  /// Data files that no table names, and what else lies here.
  void account() {
    std::set<std::string_view> named_files;
    for (const Table& table : tables_) {
      named_files.insert(table.metadata->files.begin(), table.metadata->files.end());
    }
    for (const Entry& entry : root_.list()) {
      if (!is_data_file(entry.path) || named_files.contains(entry.path)) continue;
      unclaimed_ = checked_add(unclaimed_, entry.size);
      if (tables_.empty() || lost_.contains(rank_of_data_file(entry.path))) continue;
      if (entry.size == 0) continue;  // of a rank that had nothing to write
      findings_.push_back(odd(
          {root_.given() + "/" + entry.path, {}, {}},
          fmt::format("the table names nothing in this file of {} bytes", entry.size), Code::torn));
    }
    const Beside others = beside(probe_, [&](const Entry& entry) {
      return is_data_file(entry.path) || entry.path == kTable || entry.path == kUnfinished ||
             rank_of_table(entry.path) != kNoRank || named_files.contains(entry.path) ||
             (lightning_.found() && entry.path == LightningMeta::kName);
    });
    unclaimed_ = checked_add(unclaimed_, others.rest_bytes);
    named_ = named_states(others);
    for (Finding& finding : rest_beside(others, root_)) findings_.push_back(std::move(finding));
  }

  State state() {
    State state;
    state.findings = findings_;
    state.bytes_unclaimed = unclaimed_;
    state.unreadable = unreadable_;
    state.unreadable_ranks = lost_;
    state.missing_ranks = missing_;
    if (tables_.empty()) return state;
    std::vector<const DcpMetadata*> all;
    for (const Table& table : tables_) all.push_back(table.metadata.get());
    const auto kept = std::make_shared<DcpNames>(all);
    values_.push_back(kept);  // not taken apart while somebody waits
    DcpNames& names = *kept;
    for (Finding& finding : names.take_findings()) state.findings.push_back(std::move(finding));
    DcpValues values(names, state);
    std::vector<std::unique_ptr<DcpData>> data;
    for (const Table& table : tables_) {
      data.push_back(std::make_unique<DcpData>(root_, table.metadata));
      values.add(*data.back(), table.rank);
    }
    values.add_groups();
    for (const auto& [optimizer, groups] : values.parameters()) {
      names.name_numbers(optimizer, groups, state.findings);
    }
    std::size_t records = state.records.size();
    for (const DcpMetadata* table : all) {
      for (const DcpTensor& tensor : table->tensors) records += tensor.chunks.size();
    }
    state.records.reserve(records);
    for (std::size_t t = 0; t < tables_.size(); ++t) {
      add_tensors(*data[t], names, tables_[t].rank, state);
      const std::size_t before = state.findings.size();
      data[t]->report(state);
      for (std::size_t i = before; i < state.findings.size(); ++i) {
        std::string& tensor = state.findings[i].tensor;
        if (!tensor.empty()) tensor = names.tensor(tensor);
      }
      for (const Finding& finding : tables_[t].metadata->findings)
        state.findings.push_back(finding);
      state.unreadable += tables_[t].metadata->unreadable;
      kept_.push_back(std::move(data[t]));
    }
    for (Finding& finding : check_file_steps(state, step_of_path(root_.given(), ""))) {
      state.findings.push_back(std::move(finding));
    }
    values_.push_back(values.owner());
    lightning_.add_to(state);
    return state;
  }

  /// The bytes of a chunk; nothing where they are lost or no such array can be.
  static std::optional<Piece> piece_of(DcpData& data, const DcpTensor& tensor, std::size_t chunk,
                                       State& state) {
    try {
      return data.piece(tensor, chunk);
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(data.metadata().where), tensor.name));
      return std::nullopt;
    }
  }

  static void add_tensors(DcpData& data, const DcpNames& names, std::int32_t rank, State& state) {
    for (const DcpTensor& tensor : data.metadata().tensors) {
      const std::string name = names.tensor(tensor.name);
      const Kind kind = kind_of_name(name);
      bool any = false;
      bool wanted = tensor.chunks.empty() && rank == kNoRank;
      const bool empty = std::ranges::find(tensor.size, 0) != tensor.size.end();
      for (std::size_t c = 0; c < tensor.chunks.size(); ++c) {
        const DcpChunk& chunk = tensor.chunks[c];
        const bool hollow = std::ranges::find(chunk.sizes, 0) != chunk.sizes.end();
        if (hollow && (!empty || any)) {  // uneven shards may be empty
          data.pass(chunk.place, tensor.name);
          continue;
        }
        wanted = true;
        std::optional<Piece> piece = piece_of(data, tensor, c, state);
        if (!piece) continue;
        if (rank != kNoRank) piece->rank = rank;
        Record& record = state.records.emplace_back();
        record.identity.name = name;
        record.kind = kind;
        record.dtype = *tensor.dtype;
        record.shape = chunk.sizes;
        record.piece = std::move(*piece);
        const bool whole = tensor.chunks.size() == 1 && chunk.sizes == tensor.size;
        if (!whole) {
          record.logical = tensor.size;
          record.box_lo = chunk.offsets;
        }
        any = true;
      }
      if (any || !wanted) continue;
      const std::size_t before = state.findings.size();
      data.lose(tensor, state);
      for (std::size_t i = before; i < state.findings.size(); ++i) state.findings[i].tensor = name;
    }
  }

  const Probe probe_;
  const Root& root_;
  const LightningMeta lightning_;
  std::vector<std::string> names_;
  std::vector<Table> tables_;
  std::map<std::int32_t, Error> lost_;
  std::vector<std::int32_t> missing_;
  std::vector<Finding> findings_;
  std::vector<NamedState> named_;
  std::uint64_t unclaimed_ = 0;
  std::int64_t unreadable_ = 0;
  std::vector<std::unique_ptr<DcpData>> kept_;
  std::vector<std::shared_ptr<void>> values_;
};

Run open_dcp(const Probe& probe, const OpenOptions&) {
  const auto checkpoint = std::make_shared<Checkpoint>(probe);
  return checkpoint->run(checkpoint);
}

}  // namespace

const Format kDcp = {"dcp", "PyTorch distributed checkpoint: .metadata and .distcp files", bid_dcp,
                     open_dcp};

}  // namespace ttcheck::formats
