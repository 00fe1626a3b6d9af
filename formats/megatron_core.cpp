// megatron-core: what Megatron core's dist_checkpointing writes: a PyTorch distributed checkpoint
// (back end `torch_dist`) or a zarr array a key (`zarr`), whose keys follow Megatron's conventions,
// `metadata.json` that names the back end, and what is not sharded (arguments, iteration, options
// of the optimizer) in `common.pt`, since 2026 in the object `common_state`.

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/base/checked.hpp"
#include "formats/beside.hpp"
#include "formats/bytes/findings.hpp"
#include "formats/bytes/json.hpp"
#include "formats/bytes/pickle_known.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/dcp_items.hpp"
#include "formats/megatron_args.hpp"
#include "formats/megatron_core_buffers.hpp"
#include "formats/megatron_core_chunk.hpp"
#include "formats/megatron_core_zarr.hpp"
#include "formats/megatron_mesh.hpp"
#include "formats/rows.hpp"
#include "formats/torch_facts.hpp"
#include "formats/torch_file.hpp"
#include "formats/torch_walk.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kMarker = "metadata.json";
constexpr std::string_view kTable = ".metadata";
constexpr std::string_view kCommon = "common.pt";
constexpr std::string_view kCommonObject = "common_state/";
constexpr std::string_view kOriginal = "nd_reformulated_orig_global_shape";
constexpr std::string_view kOptions = "optimizer.param_groups.";
constexpr std::uint64_t kMaxMarker = 64 * 1024;

bool has(const Probe& probe, std::string_view name) {
  return std::binary_search(probe.names.begin(), probe.names.end(), name);
}

std::string backend_of(const Root& root) {
  const JsonDocument document(root.text(kMarker, kMaxMarker), root.file(kMarker).where(0).file);
  const auto backend = document.root().find("sharded_backend");
  return backend ? std::string(backend->string()) : std::string();
}

int bid(const Probe& probe) {
  if (!probe.file.empty() || !has(probe, kMarker)) return 0;
  try {
    return backend_of(probe.root).empty() ? 0 : 64;
  } catch (const Error&) {
    return 0;
  }
}

class Checkpoint {
 public:
  explicit Checkpoint(const Probe& probe) : root_(probe.root) {
    const std::string backend = backend_of(root_);
    if (backend == "zarr") {
      zarr_ = read_megatron_zarr(root_, before_);
      read_objects();
    } else if (backend == "torch_dist") {
      metadata_ = std::make_shared<const DcpMetadata>(read_dcp_metadata(root_.file(kTable)));
      data_ = std::make_unique<DcpData>(root_, metadata_);
      read_items();
    } else {
      throw Error(fmt::format("the back end '{}' is not read, torch_dist and zarr are", backend),
                  {root_.given() + "/" + std::string(kMarker), {}, {}});
    }
    read_common();
    account(probe);
  }

  Run run(const std::shared_ptr<Checkpoint>& self) {
    Run run;
    run.format = "megatron-core";
    run.steps = {std::nullopt};
    run.mesh = mesh_.mesh;
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

  void read_items() {
    for (const DcpItem& item : metadata_->items) {
      try {
        DcpStream stream = data_->bytes(item);
        if (const auto group = gathered_group(item.name)) {
          const DcpStream& kept = streams_.emplace_back(std::move(stream));
          const std::string& path = metadata_->files[item.place->file];
          gathered_.push_back({*group, rank_of_data_file(path), read_torch(kept.bytes())});
          continue;
        }
        if (!item.name.starts_with(kCommonObject)) {
          add_object(item.name, stream.bytes());
          continue;
        }
        const TorchFile file = read_torch(stream.bytes());
        const auto list = sequence(file.root());
        add_common(file, list && list->size() == 1 ? list->front() : file.root());
      } catch (const Error& error) {
        before_.findings.push_back(unreadable(error));
      }
    }
    for (const DcpExtra& extra : metadata_->extras) {
      for (const auto& [field, shape] : extra.shapes) {
        if (field == kOriginal) original_.emplace(extra.name, &shape);
      }
    }
  }

  void read_objects() {
    for (const std::string& path : zarr_.objects) {
      try {
        const Source& bytes = root_.file(path);
        const std::string name = path.substr(0, path.rfind('.'));
        const auto group = gathered_group(name);
        if (!group) add_object(name, bytes);
        TorchFile file = read_torch(bytes);
        if (group) {
          gathered_.push_back({*group, kNoRank, std::move(file)});
        } else {
          add_findings(file, before_);
        }
      } catch (const Error& error) {
        before_.findings.push_back(unreadable(error));
      }
    }
  }

  static void add_findings(const TorchFile& file, State& state) {
    for (const Finding& finding : file.findings()) {
      if (finding.severity != Severity::note) state.findings.push_back(finding);
    }
  }

  void read_common() {
    if (!root_.entry(kCommon)) return;
    try {
      const TorchFile file = read_torch(root_.file(kCommon));
      add_common(file, file.root());
    } catch (const Error& error) {
      before_.findings.push_back(unreadable(error));
    }
  }

  /// A random state or what a layer keeps beside its weights: said, compared as a note.
  void add_object(const std::string& name, const Source& bytes) {
    Stream in(bytes);
    before_.facts.push_back(
        {name, fmt::format("{} bytes, xxh3 {:016x}", bytes.size(), in.hash(bytes.size(), "bytes")),
         FactUse::note, bytes.where(0)});
  }

  void add_common(const TorchFile& file, Value value) {
    add_findings(file, before_);
    read_args(value);
    WalkBudget budget(file.pickle());
    Leaves leaves;
    add_leaves(value, "", true, budget, leaves);
    for (Leaf& leaf : leaves.others) {
      const std::size_t at = leaf.path.find(kOptions);
      if (leaf.path.starts_with("optimizer.") && at != std::string::npos) {
        leaf.path = "optimizer.groups." + leaf.path.substr(at + kOptions.size());
      }
      before_.facts.push_back(fact_of(leaf));
    }
    if (leaves.tensors.empty() && !leaves.cut) return;
    Finding finding = damaged(value.where(), fmt::format("{} tensors of the common state are not "
                                                         "read",
                                                         leaves.tensors.size()));
    finding.severity = Severity::warning;
    before_.findings.push_back(std::move(finding));
  }

  /// Sizes and groups that the writer's arguments state.
  void read_args(Value common) {
    for (const auto& [key, value] : mapping(common).value_or(std::vector<Pair>())) {
      if (key.text() != "args" || args_.where) continue;
      try {
        args_ = read_megatron_args(value);
        mesh_ = megatron_mesh(args_);
        before_.facts.insert(before_.facts.end(), args_.facts.begin(), args_.facts.end());
      } catch (const Error& error) {
        before_.findings.push_back(unreadable(error.at(value.where()), "args"));
      }
    }
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
    before_.bytes_unclaimed = others.unclaimed;
    std::vector<std::string> all = others.runs;
    all.insert(all.end(), others.rest.begin(), others.rest.end());
    if (all.empty()) return;
    before_.findings.push_back(remark(
        {root_.given(), {}, {}}, fmt::format("beside the checkpoint, not read: {}", named(all))));
  }

  State state() {
    State state = before_;
    has_buffers_ = !gathered_.empty();
    if (metadata_ == nullptr) {
      for (const MegatronZarrTensor& tensor : zarr_.tensors) add(tensor, state);
    } else {
      add_table(state);
    }
    for (const Gathered& one : gathered_) {
      add_findings(one.file, state);
      add(one, state);
    }
    weights_.clear();
    return state;
  }

  /// The rank that wrote it; by the group where no file's name tells.
  std::int32_t rank_of(const Gathered& one) const {
    if (one.rank != kNoRank) return one.rank;
    const auto place = mesh_.places.find({one.group % args_.tp, one.group / args_.tp, 0});
    return place == mesh_.places.end() ? kNoRank : place->second;
  }

  void add(const Gathered& one, State& state) {
    const std::size_t first = state.records.size();
    try {
      add_gathered(one.file, one.group, weights_, args_, state);
    } catch (const Error& error) {
      state.records.resize(first);
      ++state.unreadable;
      state.findings.push_back(unreadable(error.at(one.file.root().where())));
    }
    for (std::size_t i = first; i < state.records.size(); ++i) {
      state.records[i].piece.rank = rank_of(one);
    }
  }

  void add_table(State& state) {
    for (const Finding& finding : metadata_->findings) state.findings.push_back(finding);
    state.unreadable += metadata_->unreadable;
    for (const DcpTensor& tensor : metadata_->tensors) {
      has_buffers_ = has_buffers_ || bucket_key(tensor.name);
    }
    std::vector<Bucket> buckets;
    for (const DcpTensor& tensor : metadata_->tensors) {
      try {
        add(tensor, state, buckets);
      } catch (const Error& error) {
        state.findings.push_back(unreadable(error.at(metadata_->where), tensor.name));
        ++state.unreadable;
      }
    }
    add_buckets(std::move(buckets), weights_, args_, metadata_->where, state);
    data_->report(state);
  }

  /// A bucket of the optimizer's buffers, whose chunks are ranges of it.
  void add_bucket(BucketKey key, const DcpTensor& tensor, State& state,
                  std::vector<Bucket>& buckets) {
    if (tensor.size.size() != 1 || !tensor.dtype) {
      throw Error(fmt::format("the bucket {} is no row of numbers", tensor.name));
    }
    Bucket bucket{std::move(key), *tensor.dtype, tensor.size[0], {}};
    for (std::size_t c = 0; c < tensor.chunks.size(); ++c) {
      const DcpChunk& chunk = tensor.chunks[c];
      if (std::optional<Piece> piece = data_->piece(tensor, c)) {
        bucket.chunks.push_back({chunk.offsets[0], chunk.sizes[0], std::move(*piece)});
      }
    }
    if (bucket.chunks.empty()) data_->lose(tensor, state);
    buckets.push_back(std::move(bucket));
  }

  void add(const DcpTensor& tensor, State& state, std::vector<Bucket>& buckets) {
    const MegatronKey key = megatron_key(tensor.name);
    if (!key.placed) {
      std::optional<BucketKey> bucket = bucket_key(tensor.name);
      if (bucket) return add_bucket(std::move(*bucket), tensor, state, buckets);
      for (const DcpChunk& chunk : tensor.chunks) data_->pass(chunk.place, tensor.name);
      throw Error(
          fmt::format("{} is no bucket of the optimizer's buffers that is known", tensor.name));
    }
    const auto original = original_.find(tensor.name);
    const Shape* orig = original == original_.end() ? nullptr : original->second;
    bool any = false;
    for (std::size_t c = 0; c < tensor.chunks.size(); ++c) {
      const std::optional<Piece> piece = data_->piece(tensor, c);
      if (!piece) continue;
      any = true;
      for (Record& record : records(key, tensor, c, *piece, orig, args_.vocab)) {
        state.records.push_back(std::move(record));
      }
      if (!key.suffix.empty() || !has_buffers_) continue;
      for (Record& record : records(key, tensor, c, *piece, orig, 0)) {
        weights_[record.identity.name].push_back(std::move(record));
      }
    }
    if (!any) data_->lose(tensor, state);
  }

  static std::vector<Record> records(const MegatronKey& key, const DcpTensor& tensor,
                                     std::size_t chunk, const Piece& piece, const Shape* orig,
                                     std::int64_t vocabulary) {
    auto all = megatron_records(key, tensor, tensor.chunks[chunk], orig, vocabulary);
    for (Record& record : all) {
      const std::uint64_t offset = checked_add(piece.offset, record.piece.offset);
      record.piece = piece;
      record.piece.offset = offset;
      record.kind = kind_of_name(record.identity.name);
      record.dtype = *tensor.dtype;
    }
    return all;
  }

  void add(const MegatronZarrTensor& tensor, State& state) {
    const DcpTensor& table = tensor.tensor;
    try {
      const MegatronKey key = megatron_key(table.name);
      for (std::size_t c = 0; c < table.chunks.size(); ++c) {
        for (Record& record : records(key, tensor, c, args_.vocab)) {
          state.records.push_back(std::move(record));
        }
        if (!key.suffix.empty() || !has_buffers_) continue;
        for (Record& record : records(key, tensor, c, 0)) {
          weights_[record.identity.name].push_back(std::move(record));
        }
      }
    } catch (const Error& error) {
      state.findings.push_back(unreadable(error.at(tensor.array.where), table.name));
      ++state.unreadable;
    }
  }

  static std::vector<Record> records(const MegatronKey& key, const MegatronZarrTensor& tensor,
                                     std::size_t chunk, std::int64_t vocabulary) {
    const DcpTensor& table = tensor.tensor;
    auto all = megatron_records(key, table, table.chunks[chunk], nullptr, vocabulary);
    for (std::size_t i = 0; i < all.size(); ++i) {
      place_in_zarr(tensor, chunk, key.stacked, static_cast<std::int64_t>(i), all[i]);
      all[i].kind = kind_of_name(all[i].identity.name);
      all[i].dtype = *table.dtype;
    }
    return all;
  }

  const Root& root_;
  std::shared_ptr<const DcpMetadata> metadata_;
  std::unique_ptr<DcpData> data_;
  MegatronZarr zarr_;              ///< without a table
  std::deque<DcpStream> streams_;  ///< of gathered objects
  std::vector<Gathered> gathered_;
  MegatronWeights weights_;  ///< while buffers are placed
  bool has_buffers_ = false;
  State before_;
  MegatronArgs args_;
  MegatronMesh mesh_;
  std::unordered_map<std::string, const Shape*> original_;
};

Run open(const Probe& probe, const OpenOptions&) {
  const auto checkpoint = std::make_shared<Checkpoint>(probe);
  return checkpoint->run(checkpoint);
}

}  // namespace

const Format kMegatronCore = {
    "megatron-core", "Megatron core's distributed checkpoint: torch_dist, zarr", bid, open};

}  // namespace ttcheck::formats
