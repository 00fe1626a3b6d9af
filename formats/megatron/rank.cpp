// SPDX-License-Identifier: Apache-2.0
// A rank numbers its layers and experts by itself, so the constructor only finds its chunks
// (`model`, or `model0`, `model1`... of virtual stages) under plain names. The caller works out
// where they stand among all ranks, and read() then gives each tensor its name in the whole model
// and takes joined experts apart. The order is that of the needs: tensors of the chunks first,
// since they are the parameters whose state the optimizers hold; then the optimizer in the file,
// whose numbers are named by order and shape; last the buffers beside it, which are named by
// their values. Buffers that are not of these weights are tried by those of each neighbour, a
// bounded number of times for all ranks together. Tensors of extra states and generators become
// facts, with a hash of bytes that lie end to end. A tensor that cannot be described, or whose
// name another has, is left out with a finding. The walk's budget bounds what is followed in the
// file, and joined experts are taken apart up to 2^20 tensors.

#include "formats/megatron/rank.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/megatron/experts.hpp"
#include "formats/megatron/optimizer.hpp"
#include "formats/megatron/optimizer_buffers.hpp"
#include "formats/objects/known.hpp"
#include "formats/torch/fact_adder.hpp"
#include "formats/torch/facts.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kMaxChunks = 4096;
constexpr std::size_t kMaxTensors = std::size_t{1} << 20;  // once joined experts are taken apart
constexpr std::string_view kExtraState = "_extra_state";

/// Tensors of the model that no optimizer holds, by the last part of their names.
constexpr std::string_view kBuffers[] = {"expert_bias", "local_tokens_per_expert", "inv_freq"};

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

Value find(const std::vector<KeyValue>& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name.text() == key) return value;
  }
  return {};
}

bool is_embedding(std::string_view name) {
  return name.ends_with("embedding.word_embeddings.weight");
}

/// The scale of fp16's gradients, a tensor of one number.
constexpr std::string_view kGradScaler = ".grad_scaler.";

/// An optimizer without state: with the distributed one only its groups are in the model's file.
bool holds_groups_alone(const std::vector<KeyValue>& file) {
  const auto optimizer = mapping(find(file, "optimizer"));
  return optimizer && !find(*optimizer, "state") && !find(*optimizer, "fp32_from_fp16_params");
}

/// A tensor that is kept as a fact: what it is, and a hash of its bytes.
std::string digest(const TorchTensor& tensor) {
  const std::uint64_t size = byte_size(tensor.dtype, element_count(tensor.shape));
  const std::string what = fmt::format("{} of {} bytes", name(tensor.dtype), size);
  if (!tensor.piece.cells.empty()) return what;
  Stream in(*tensor.piece.source, tensor.piece.offset, tensor.piece.offset + size);
  return fmt::format("{}, xxh3 {:016x}", what, in.hash(size, "tensor"));
}

}  // namespace

MegatronRank::MegatronRank(const Root& root, const std::string& directory) {
  model_ = std::make_unique<TorchFile>(
      read_torch(root.file(fmt::format("{}/{}", directory, kMegatronFile))));
  const auto pairs = mapping(model_->root());
  if (!pairs) {
    if (const auto& fault = model_->pickle().fault()) throw Error(*fault);
    throw Error("holds no dict", model_->root().where());
  }
  budget_ = std::make_unique<WalkBudget>(model_->pickle());
  if (const Value args = find(*pairs, "args"); args && !args.is_none()) {
    args_ = read_megatron_args(args);
  }
  iteration_ = find(*pairs, "iteration").integer();
  version_ = find(*pairs, "checkpoint_version").number().value_or(0);
  find_chunks();
  const std::string beside = fmt::format("{}/{}", directory, kMegatronBuffers);
  if (!root.entry(beside)) {
    lacks_buffers_ = args_ && args_->distributed_optimizer && holds_groups_alone(*pairs);
    return;
  }
  try {
    buffers_ = std::make_unique<TorchFile>(read_torch(root.file(beside)));
  } catch (const Error& error) {
    ++unreadable_;
    findings_.push_back(unreadable(error));
  }
}

void MegatronRank::find_chunks() {
  const std::vector<KeyValue> pairs = *mapping(model_->root());
  std::vector<Value> models;
  if (const Value model = find(pairs, "model")) models.push_back(model);
  for (std::size_t v = 0; models.size() == v && v < kMaxChunks; ++v) {
    if (const Value model = find(pairs, fmt::format("model{}", v))) models.push_back(model);
  }
  for (const Value& model : models) {
    Leaves& chunk = chunks_.emplace_back();
    add_leaves(model, "", true, *budget_, chunk);
    for (Leaf& leaf : chunk.tensors) {
      leaf.path = plain_megatron_name(std::move(leaf.path));
      has_embedding_ = has_embedding_ || is_embedding(leaf.path);
    }
  }
  if (chunks_.empty()) throw Error("holds no model", model_->root().where());
}

std::int64_t MegatronRank::layers(std::size_t chunk) const {
  std::int64_t count = 0;
  for (const Leaf& leaf : chunks_[chunk].tensors) {
    const auto layer = layer_of_name(leaf.path);
    if (layer && *layer < INT32_MAX) count = std::max(count, *layer + 1);
  }
  return count;
}

std::int64_t MegatronRank::experts() const {
  std::int64_t count = 0;
  for (const Leaves& chunk : chunks_) {
    for (const Leaf& leaf : chunk.tensors) {
      const auto expert = expert_of_name(leaf.path);
      if (expert && *expert < INT32_MAX) count = std::max(count, *expert + 1);
    }
  }
  return count;
}

std::int64_t MegatronRank::vocabulary() const {
  for (const Leaves& chunk : chunks_) {
    const auto leaf =
        std::ranges::find_if(chunk.tensors, [](const Leaf& one) { return is_embedding(one.path); });
    if (leaf == chunk.tensors.end()) continue;
    try {
      const Shape shape = model_->tensor(leaf->value).shape;
      return shape.empty() ? 0 : shape.front();
    } catch (const Error&) {
      return 0;  // said where the tensor itself is read
    }
  }
  return 0;
}

/// One reading of a rank: its tensors one by one, then its optimizers, then the rest.
class MegatronRank::Reading {
 public:
  Reading(MegatronRank& rank, const MegatronArgs& args, const std::vector<ChunkPlace>& places,
          MegatronNeighbours& neighbours)
      : rank_(rank), args_(args), places_(places), neighbours_(neighbours) {}

  State read() {
    state_.findings = rank_.findings_;
    state_.unreadable = rank_.unreadable_;
    take(*rank_.model_);
    for (std::size_t c = 0; c < rank_.chunks_.size(); ++c) read_chunk(c);
    const std::vector<KeyValue> entries = *mapping(rank_.model_->root());
    for (const auto& [key, value] : entries) read_entry(key, value);
    if (rank_.lacks_buffers_) {
      ++state_.unreadable;
      state_.findings.push_back(
          found(Code::unreadable,
                fmt::format("{} is not there, which holds the optimizer's state", kMegatronBuffers),
                rank_.model_->root().where()));
    }
    if (rank_.buffers_) {
      take(*rank_.buffers_);
      read_beside();
    }
    if (cut_ || rank_.budget_->spent()) {
      state_.findings.push_back(beyond(rank_.model_->root().where(),
                                       "limit reached: not all values of the file were listed"));
    }
    return std::move(state_);
  }

 private:
  void read_beside() {
    State own;
    std::vector<BufferSlice> slices = read_buffers(*rank_.buffers_, parameters_, args_, own);
    if (!own.findings.empty()) find_exchanged(own, slices);
    state_.unreadable += own.unreadable;
    std::ranges::move(own.findings, std::back_inserter(state_.findings));
    for (const BufferSlice& slice : slices) {
      emit(slice.name, slice.tensor, slice.tensor.piece.where());
    }
  }

  /// Finds the neighbour whose copies are these weights, all of them, and cuts the file as that
  /// one.
  void find_exchanged(State& own, std::vector<BufferSlice>& slices) {
    for (const auto& [directory, rank] : neighbours_.ranks) {
      if (rank == &rank_ || !rank->buffers_ || neighbours_.tries <= 0) continue;
      --neighbours_.tries;
      State tried;
      std::vector<BufferSlice> fit = read_buffers(*rank->buffers_, parameters_, args_, tried);
      if (!tried.findings.empty() || fit.empty()) continue;
      own = {};
      slices = read_exchanged(*rank_.buffers_, *rank->buffers_, parameters_, args_, own);
      own.findings.push_back(found(
          Code::permutation,
          fmt::format("{} holds the optimizer of other weights, that of these is in {}: files of "
                      "ranks are swapped",
                      kMegatronBuffers, directory),
          rank_.buffers_->root().where()));
      return;
    }
  }

  void take(const TorchFile& file) {
    state_.findings.insert(state_.findings.end(), file.findings().begin(), file.findings().end());
    state_.bytes_unclaimed += file.unclaimed();
  }

  const ChunkPlace& place(std::size_t chunk) const {
    return places_[std::min(chunk, places_.size() - 1)];
  }

  void read_chunk(std::size_t chunk) {
    const Leaves& leaves = rank_.chunks_[chunk];
    cut_ = cut_ || leaves.cut;
    for (const Leaf& leaf : leaves.tensors) {
      const std::string name = global_megatron_name(leaf.path, place(chunk));
      const auto tensor = read_tensor(*rank_.model_, leaf.value, name);
      if (!tensor) continue;
      if (last_part(name) == kExtraState) {
        add_fact(name, digest(*tensor), leaf.value);
        continue;
      }
      emit(name, *tensor, leaf.value.where());
      const auto last = last_part(name);
      if (std::ranges::find(kBuffers, last) != std::end(kBuffers) || is_exact(tensor->dtype)) {
        continue;
      }
      const bool expert = is_expert_name(name);
      const bool tied = is_embedding(name) || (!args_.untied && name == "output_layer.weight");
      parameters_.push_back({name, *tensor, chunk, expert, tied && args_.embedding_is_shared()});
    }
    for (const Leaf& leaf : leaves.others) {
      if (!leaf.value.is_none()) {
        state_.facts.push_back(
            fact_of({global_megatron_name(leaf.path, place(chunk)), leaf.value}));
        state_.facts.back().use = FactUse::note;
      }
    }
  }

  void add_fact(const std::string& name, std::string text, Value value) {
    state_.facts.push_back({name, std::move(text), FactUse::note, value.where()});
  }

  /// The tensor, if it is one whose bytes can be told.
  std::optional<TorchTensor> read_tensor(const TorchFile& file, Value value,
                                         const std::string& name) {
    try {
      TorchTensor tensor = file.tensor(value);
      if (tensor.opaque.empty()) return tensor;
      Finding finding =
          odd(value.where(),
              fmt::format("{} is a {}, which is listed but not compared", name, tensor.opaque));
      finding.tensor = name;
      finding.incomplete = true;
      state_.findings.push_back(std::move(finding));
    } catch (const Error& error) {
      state_.findings.push_back(unreadable(error, name));
    }
    ++state_.unreadable;
    return std::nullopt;
  }

  void emit(const std::string& name, const TorchTensor& tensor, Where where) {
    std::vector<NamedTensor> parts;
    try {
      parts = single_experts(name, tensor, args_, places_.front().first_expert);
    } catch (const Error& error) {
      return refuse(Code::shape_or_dtype, error.message(), name, std::move(where));
    }
    if (parts.size() > 1 && names_.size() + parts.size() > kMaxTensors) {
      const std::string limit = fmt::format("limit reached: more than {} tensors", kMaxTensors);
      return refuse(Code::unreadable, limit, name, std::move(where));
    }
    for (NamedTensor& part : parts) {
      if (!names_.insert(part.name).second) {
        ++state_.unreadable;
        state_.findings.push_back(found(
            Code::name_mapping, fmt::format("two tensors are {} in the whole model", part.name),
            where, part.name));
        continue;
      }
      Record record;
      record.identity.name = std::move(part.name);
      record.kind = kind_of_name(record.identity.name);
      record.dtype = part.tensor.dtype;
      record.shape = std::move(part.tensor.shape);
      record.piece = std::move(part.tensor.piece);
      state_.records.push_back(std::move(record));
    }
  }

  void refuse(Code code, std::string message, const std::string& name, Where where) {
    ++state_.unreadable;
    state_.findings.push_back(found(code, std::move(message), std::move(where), name));
    state_.findings.back().incomplete = true;
  }

  void read_entry(Value key, Value value) {
    const std::string name = path_part(key);
    if (name == "args" || is_chunk(name)) return;
    if (name == "optimizer") {
      return add_rest(read_megatron_optimizer({*rank_.model_, value, parameters_, args_.ep > 1},
                                              *rank_.budget_, state_));
    }
    if (name == "rng_state") return read_random(value);
    Leaves leaves;
    add_leaves(value, name, false, *rank_.budget_, leaves);
    add_rest(leaves);
  }

  static bool is_chunk(std::string_view name) {
    if (!name.starts_with("model")) return false;
    return name.find_first_not_of("0123456789", 5) == std::string_view::npos;
  }

  /// What is no state of a parameter: tensors as records, the rest as facts.
  void add_rest(const Leaves& leaves) {
    cut_ = cut_ || leaves.cut;
    for (const Leaf& leaf : leaves.tensors) {
      if (leaf.path.find(kGradScaler) != std::string::npos) {
        facts_.add_tensor(leaf);
        continue;
      }
      if (const auto tensor = read_tensor(*rank_.model_, leaf.value, leaf.path)) {
        emit(leaf.path, *tensor, leaf.value.where());
      }
    }
    for (const Leaf& leaf : leaves.others) {
      if (rank_.budget_->look_at(leaf.value)) state_.facts.push_back(fact_of(leaf));
    }
  }

  /// Generators are the rank's own: their facts bear its number, which the caller appends.
  void read_random(Value value) {
    Leaves leaves;
    add_leaves(value, "rng", false, *rank_.budget_, leaves);
    for (const Leaf& leaf : leaves.tensors) {
      if (const auto tensor = read_tensor(*rank_.model_, leaf.value, leaf.path)) {
        add_fact(leaf.path, digest(*tensor), leaf.value);
        state_.facts.back().use = FactUse::opaque;
      }
    }
    for (const Leaf& leaf : leaves.others) {
      if (rank_.budget_->look_at(leaf.value)) state_.facts.push_back(fact_of(leaf));
    }
  }

  MegatronRank& rank_;
  const MegatronArgs& args_;
  const std::vector<ChunkPlace>& places_;
  MegatronNeighbours& neighbours_;
  State state_;
  FactAdder facts_{*rank_.model_, state_};
  bool cut_ = false;  ///< of some values not every path was followed
  std::vector<BufferParameter> parameters_;
  std::set<std::string, std::less<>> names_;
};

State MegatronRank::read(const MegatronArgs& args, const std::vector<ChunkPlace>& places,
                         MegatronNeighbours& neighbours) {
  return Reading(*this, args, places, neighbours).read();
}

}  // namespace ttcheck::formats
