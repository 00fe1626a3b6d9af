// SPDX-License-Identifier: Apache-2.0
// megatron-core: what Megatron core's dist_checkpointing writes: a PyTorch distributed checkpoint
// (back end `torch_dist`) or a zarr array a key (`zarr`), whose keys follow Megatron's conventions,
// `metadata.json` that names the back end, and what is not sharded (arguments, iteration, options
// of the optimizer) in `common.pt`, since 2026 in the object `common_state`.

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/bytes/zip.hpp"
#include "formats/dcp/items.hpp"
#include "formats/folder/step_name.hpp"
#include "formats/megatron/core/common.hpp"
#include "formats/megatron/core/optimizer_buffers.hpp"
#include "formats/megatron/core/tensors.hpp"
#include "formats/megatron/core/zarr.hpp"
#include "formats/megatron/vocabulary.hpp"
#include "formats/objects/known.hpp"
#include "formats/readers/beside.hpp"
#include "formats/readers/rows.hpp"
#include "formats/torch/file.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kMarker = "metadata.json";
constexpr std::string_view kTable = ".metadata";
constexpr std::string_view kCommon = "common.pt";
constexpr std::string_view kCommonObject = "common_state/";
constexpr std::string_view kSteps = "iter_";
constexpr std::uint64_t kMaxMarker = 64 * 1024;

bool has(const Probe& probe, std::string_view name) {
  return std::binary_search(probe.names.begin(), probe.names.end(), name);
}

std::string backend_of(const Root& root) {
  const JsonDocument document(root.text(kMarker, kMaxMarker), root.file(kMarker).where(0).file);
  const auto backend = document.root().find("sharded_backend");
  return backend ? std::string(backend->string()) : std::string();
}

/// A save begins with `common.pt` and ends with the marker (dist_checkpointing/serialization.py).
bool is_unfinished(const Probe& probe) {
  if (has(probe, kMarker) || !has(probe, kCommon)) return false;
  const auto is_data = [](const std::string& name) { return name.ends_with(".distcp"); };
  return has(probe, kTable) ||
         (step_of_path(probe.root.given(), kSteps) && std::ranges::none_of(probe.names, is_data));
}

Bid bid_megatron_core(const Probe& probe) {
  if (!probe.file.empty()) return Bid::none;
  if (is_unfinished(probe)) return Bid::megatron_core;
  if (!has(probe, kMarker)) return Bid::none;
  try {
    return backend_of(probe.root).empty() ? Bid::none : Bid::megatron_core;
  } catch (const Error&) {
    return Bid::none;
  }
}

class Checkpoint {
 public:
  explicit Checkpoint(const Probe& probe) : root_(probe.root) {
    if (is_unfinished(probe)) {
      salvage(probe);
    } else {
      read_sharded();
    }
    read_common();
    MegatronArgs& args = common_.args;
    settle_vocabulary(args, metadata_ ? vocabulary_rows(*metadata_) : vocabulary_rows(zarr_),
                      before_.findings);
    before_.facts.insert(before_.facts.begin(), args.facts.begin(), args.facts.end());
    check_step();
    account(probe);
  }

  Run run(const std::shared_ptr<Checkpoint>& self) {
    Run run;
    run.format = "megatron-core";
    run.named = named_;
    run.steps = {std::nullopt};
    run.mesh = common_.mesh.mesh;
    Checkpoint* const raw = self.get();
    run.open = [raw](std::size_t) { return raw->state(); };
    run.owner = self;
    return run;
  }

 private:
  /// A group's state of the optimizer in one object.
  struct Gathered {
    std::int64_t group = 0;
    std::int32_t rank = kNoRank;
    TorchFile file;
  };

  void read_sharded() {
    const std::string backend = backend_of(root_);
    if (backend == "zarr") {
      zarr_ = read_megatron_zarr(root_, before_);
      read_objects();
    } else if (backend == "torch_dist") {
      read_table();
    } else {
      throw Error(fmt::format("the back end '{}' is not read, torch_dist and zarr are", backend),
                  {root_.given() + "/" + std::string(kMarker), {}, {}});
    }
  }

  void read_table() {
    metadata_ = std::make_shared<const DcpMetadata>(read_dcp_metadata(root_.file(kTable)));
    data_ = std::make_unique<DcpData>(root_, metadata_);
    read_items();
  }

  void salvage(const Probe& probe) {
    Finding torn = found(Code::torn,
                         "metadata.json, which a save writes last, is not there: this save was "
                         "not finished",
                         {root_.given(), {}, {}});
    if (has(probe, kTable)) {
      read_table();
    } else {
      torn.message += "; none of its tensors is there";
      torn.incomplete = true;
      ++before_.unreadable;
    }
    before_.findings.push_back(std::move(torn));
  }

  void read_items() {
    for (const DcpItem& item : metadata_->items) {
      try {
        std::optional<DcpStream> stream = data_->bytes(item);
        if (!stream) continue;
        if (const auto group = gathered_group(item.name)) {
          const DcpStream& kept = streams_.emplace_back(std::move(*stream));
          const std::string& path = metadata_->files[item.place->file];
          gathered_.push_back({*group, rank_of_data_file(path), read_torch(kept.bytes())});
          add_findings(gathered_.back().file, before_);
          continue;
        }
        if (!item.name.starts_with(kCommonObject)) {
          const Source& bytes = stream->bytes();
          add_object(item.name, bytes, before_);
          if (looks_like_zip(bytes)) add_findings(read_torch(bytes), before_);
          continue;
        }
        const TorchFile file = read_torch(stream->bytes());
        const auto list = sequence(file.root());
        common_.add(file, list && list->size() == 1 ? list->front() : file.root(), before_);
      } catch (const Error& error) {
        before_.findings.push_back(unreadable(error));
      }
    }
  }

  void read_objects() {
    for (const std::string& path : zarr_.objects) {
      try {
        const Source& bytes = root_.file(path);
        const std::string name = path.substr(0, path.rfind('.'));
        const auto group = gathered_group(name);
        if (!group) add_object(name, bytes, before_);
        TorchFile file = read_torch(bytes);
        add_findings(file, before_);
        if (group) {
          gathered_.push_back({*group, kNoRank, std::move(file)});
        }
      } catch (const Error& error) {
        before_.findings.push_back(unreadable(error));
      }
    }
  }

  void read_common() {
    if (!root_.entry(kCommon)) return;
    try {
      const TorchFile file = read_torch(root_.file(kCommon));
      common_.add(file, file.root(), before_);
    } catch (const Error& error) {
      before_.findings.push_back(unreadable(error));
    }
  }

  /// The common state is of the iteration that the directory is named after.
  void check_step() {
    const auto stated = step_of_path(root_.given(), kSteps);
    const Fact* fact = find_fact(before_.facts, "iteration");
    const auto* iteration = fact != nullptr ? std::get_if<std::int64_t>(&fact->value) : nullptr;
    if (!stated || iteration == nullptr || *iteration == *stated) return;
    before_.findings.push_back(
        found(Code::mixed_step,
              fmt::format("the common state was saved at iteration {}, the checkpoint at {}",
                          *iteration, *stated),
              fact->where));
  }

  void account(const Probe& probe) {
    const Beside others = beside(probe, [&](const Entry& entry) {
      if (entry.path == kMarker || entry.path == kCommon) return true;
      if (metadata_ == nullptr) {
        return entry.kind == EntryKind::directory && is_megatron_zarr_key(root_, entry.path);
      }
      const auto& files = metadata_->files;
      return entry.path == kTable || std::ranges::find(files, entry.path) != files.end();
    });
    before_.bytes_unclaimed = others.rest_bytes;
    named_ = named_states(others);
    std::ranges::move(rest_beside(others, root_), std::back_inserter(before_.findings));
  }

  State state() {
    State state = before_;
    MegatronTensors tensors(common_.args, !gathered_.empty());
    if (metadata_ == nullptr) {
      tensors.add(zarr_, state);
    } else {
      tensors.add(*data_, state);
    }
    for (const Gathered& one : gathered_) {
      add_findings(one.file, state);
      add(one, tensors.groups(), state);
    }
    return state;
  }

  /// The rank that wrote it; by the group where no file's name tells.
  std::int32_t rank_of(const Gathered& one) const {
    if (one.rank != kNoRank) return one.rank;
    const auto& places = common_.mesh.places;
    const std::int64_t tp = common_.args.tp;
    const auto place = places.find({one.group % tp, one.group / tp, 0});
    return place == places.end() ? kNoRank : place->second;
  }

  void add(const Gathered& one, GroupParameters& groups, State& state) {
    const std::size_t first = state.records.size();
    try {
      add_gathered(one.file, one.group, groups, common_.args, state);
    } catch (const Error& error) {
      state.records.resize(first);
      ++state.unreadable;
      state.findings.push_back(unreadable(error.at(one.file.root().where())));
    }
    for (std::size_t i = first; i < state.records.size(); ++i) {
      state.records[i].piece.rank = rank_of(one);
    }
  }

  const Root& root_;
  std::shared_ptr<const DcpMetadata> metadata_;
  std::unique_ptr<DcpData> data_;
  MegatronZarr zarr_;              ///< without a table
  std::deque<DcpStream> streams_;  ///< of gathered objects
  std::vector<Gathered> gathered_;
  State before_;
  std::vector<NamedState> named_;
  MegatronCommon common_;
};

Run open_megatron_core(const Probe& probe, const OpenOptions&) {
  const auto checkpoint = std::make_shared<Checkpoint>(probe);
  return checkpoint->run(checkpoint);
}

}  // namespace

const Format kMegatronCore = {"megatron-core",
                              "Megatron core's distributed checkpoint: torch_dist, zarr",
                              bid_megatron_core, open_megatron_core};

}  // namespace ttcheck::formats
