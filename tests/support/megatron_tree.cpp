// SPDX-License-Identifier: Apache-2.0
#include "tests/support/megatron_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tests/support/pickle_writer.hpp"
#include "tests/support/zip_writer.hpp"

namespace ttcheck::tests {
namespace {

using Shape = std::vector<std::int64_t>;
using Rows = std::vector<std::int64_t>;

Rows range(std::int64_t begin, std::int64_t end) {
  Rows rows(static_cast<std::size_t>(end - begin));
  std::iota(rows.begin(), rows.end(), begin);
  return rows;
}

Rows part(std::int64_t size, std::int64_t ranks, std::int64_t rank) {
  return range(size / ranks * rank, size / ranks * (rank + 1));
}

MegatronTensor made(std::int64_t number, Shape shape) {
  MegatronTensor tensor{std::move(shape), {}};
  const std::int64_t count =
      std::accumulate(tensor.shape.begin(), tensor.shape.end(), std::int64_t{1}, std::multiplies());
  for (std::int64_t i = 0; i < count; ++i) {
    tensor.values.push_back(static_cast<float>(number * 4096 + i));
  }
  return tensor;
}

MegatronTensor scaled(MegatronTensor tensor, float factor) {
  for (float& value : tensor.values) value *= factor;
  return tensor;
}

/// Rows and columns of a matrix, in this order; rows beyond it are noise.
MegatronTensor cut(const MegatronTensor& whole, const Rows& rows, const Rows& columns) {
  const bool matrix = whole.shape.size() == 2;
  const std::int64_t width = matrix ? whole.shape[1] : 1;
  MegatronTensor tensor;
  tensor.shape = {std::ssize(rows)};
  if (matrix) tensor.shape.push_back(std::ssize(columns));
  for (const std::int64_t row : rows) {
    for (const std::int64_t column : matrix ? columns : Rows{0}) {
      const bool noise = row >= whole.shape[0];
      tensor.values.push_back(noise ? -1.0F - static_cast<float>(rows.size())
                                    : whole.values[static_cast<std::size_t>(row * width + column)]);
    }
  }
  return tensor;
}

bool has(const std::string& name, std::string_view text) {
  return name.find(text) != std::string::npos;
}

/// A pickle of a dict from parts that are pickled already.
std::string dict_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string out = "}(";
  for (const auto& [key, value] : pairs) out += key + value;
  return out + "u";
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out = "](";
  for (const std::string& item : items) out += item;
  return out + "e";
}

/// An archive under way: the storages of the tensors pickled so far.
struct Archive {
  ZipWriter zip;
  std::vector<std::string> storages;

  std::string tensor(const MegatronTensor& made) {
    std::string bytes;
    for (const float value : made.values) bytes += little(std::bit_cast<std::uint32_t>(value), 4);
    pickled::Tensor written;
    written.key = fmt::format("{}", storages.size());
    written.count = std::ssize(made.values);
    written.size = made.shape;
    written.stride.assign(made.shape.size(), 1);
    if (made.shape.size() == 2) written.stride[0] = made.shape[1];
    storages.push_back(std::move(bytes));
    return pickled::tensor(written);
  }

  std::string finish(const std::string& object) {
    zip.add("x/data.pkl", pickled::whole(object));
    for (std::size_t i = 0; i < storages.size(); ++i) {
      zip.add(fmt::format("x/data/{}", i), storages[i]);
    }
    zip.add("x/version", "3\n");
    return zip.finish(true);
  }
};

/// Where a rank lies.
struct Place {
  std::int64_t rank = 0, tp = 0, pp = 0, ep = 0, etp = 0;
};

class Writer {
 public:
  Writer(const MegatronTree& tree, const MegatronModel& whole)
      : tree_(tree), whole_(whole), etp_(tree.etp == 0 ? tree.tp : tree.etp) {}

  std::vector<std::string> write(const TempDir& root, const std::string& folder) const {
    std::vector<std::string> names;
    const std::int64_t stage = std::max(tree_.tp, etp_ * tree_.ep);
    for (std::int64_t rank = 0; rank < stage * tree_.pp; ++rank) {
      const Place at{rank, rank % tree_.tp, rank / stage, rank / etp_ % tree_.ep, rank % etp_};
      if (rank % stage / (etp_ * tree_.ep) != 0 && tree_.experts > 0) continue;
      std::string name = fmt::format("mp_rank_{:02}", at.tp);
      if (tree_.pp > 1) name += fmt::format("_{:03}", at.pp);
      if (tree_.ep > 1) name += fmt::format("_{:03}", at.ep);
      write_rank(root, folder + "/" + name, at, stage * tree_.pp);
      names.push_back(std::move(name));
    }
    return names;
  }

 private:
  /// A rank's part of a tensor.
  MegatronTensor own(const std::string& name, const MegatronTensor& whole, const Place& at) const {
    const bool expert = has(name, ".experts.");
    const std::int64_t ranks = expert ? etp_ : tree_.tp;
    const std::int64_t rank = expert ? at.etp : at.tp;
    const Rows all = range(0, whole.shape[0]);
    const Rows columns = whole.shape.size() == 2 ? range(0, whole.shape[1]) : Rows{};
    if (has(name, "word_embeddings") || has(name, "output_layer")) {
      return cut(whole, part(tree_.padded_vocab(), ranks, rank), columns);
    }
    if (has(name, "linear_qkv.")) return cut(whole, part(whole.shape[0], ranks, rank), columns);
    if (has(name, "linear_fc1.") && !has(name, "layer_norm")) {
      if (!tree_.swiglu) return cut(whole, part(whole.shape[0], ranks, rank), columns);
      const std::int64_t half = whole.shape[0] / 2;
      Rows rows = part(half, ranks, rank);
      for (const std::int64_t row : part(half, ranks, rank)) rows.push_back(half + row);
      return cut(whole, rows, columns);
    }
    if (has(name, "linear_proj.weight") || has(name, "linear_fc2.weight")) {
      return cut(whole, all, part(whole.shape[1], ranks, rank));
    }
    return cut(whole, all, columns);
  }

  /// The name that a chunk of a stage gives a tensor; empty where it does not hold it.
  std::string local_name(const std::string& name, const Place& at, std::int64_t chunk) const {
    const bool first = at.pp == 0 && chunk == 0;
    const bool last = at.pp == tree_.pp - 1 && chunk == tree_.vpp - 1;
    if (has(name, "word_embeddings") && tree_.tied && last && !first) return "output_layer.weight";
    if (has(name, "embedding.")) return first ? name : "";
    if (has(name, "final_layernorm") || has(name, "output_layer")) return last ? name : "";
    const std::size_t end = name.find('.', 15);
    const std::int64_t per = tree_.layers / (tree_.pp * tree_.vpp);
    const std::int64_t layer =
        std::stoll(name.substr(15, end - 15)) - per * (chunk * tree_.pp + at.pp);
    if (layer < 0 || layer >= per) return "";
    std::string rest = name.substr(end);
    if (const std::size_t e = rest.find("local_experts."); e != std::string::npos) {
      const std::size_t dot = rest.find('.', e + 14);
      const std::int64_t held = tree_.experts / tree_.ep;
      const std::int64_t expert = std::stoll(rest.substr(e + 14, dot - e - 14)) - held * at.ep;
      if (expert < 0 || expert >= held) return "";
      rest = rest.substr(0, e + 14) + fmt::format("{}", expert) + rest.substr(dot);
    }
    return fmt::format("decoder.layers.{}{}", layer, rest);
  }

  /// In the order of a model: by name, which is one of its orders.
  MegatronModel chunk_of(const Place& at, std::int64_t chunk) const {
    MegatronModel held;
    for (const auto& [name, tensor] : whole_) {
      if (has(name, "@")) continue;
      const std::string local = local_name(name, at, chunk);
      if (!local.empty()) held.emplace(local, own(name, tensor, at));
    }
    if (tree_.change_tensors) tree_.change_tensors(at.rank, held);
    return held;
  }

  void write_rank(const TempDir& root, const std::string& folder, const Place& at,
                  std::int64_t world) const {
    Archive archive;
    std::map<std::string, std::int64_t> args = arguments(at, world);
    std::int64_t iteration = tree_.iteration;
    if (tree_.change_args) tree_.change_args(at.rank, args);
    if (const auto stated = args.find("iteration"); stated != args.end())
      iteration = stated->second;
    std::vector<std::pair<std::string, std::string>> file = {
        {pickled::text("args"), megatron_namespace(args)},
        {pickled::text("checkpoint_version"), std::string("G\x40\x08\0\0\0\0\0\0", 9)},
        {pickled::text("iteration"), pickled::integer(iteration)}};
    MegatronModel first;
    for (std::int64_t chunk = 0; chunk < tree_.vpp; ++chunk) {
      const MegatronModel held = chunk_of(at, chunk);
      if (chunk == 0) first = held;
      std::vector<std::pair<std::string, std::string>> tensors;
      for (const auto& [name, tensor] : held) {
        tensors.emplace_back(pickled::text(name), archive.tensor(tensor));
        if (name.ends_with("linear_proj.weight")) {
          tensors.emplace_back(pickled::text(name.substr(0, name.size() - 6) + "_extra_state"),
                               "N");
        }
      }
      const std::string key = tree_.vpp > 1 ? fmt::format("model{}", chunk) : "model";
      file.emplace_back(pickled::text(key), dict_of(tensors));
    }
    if (tree_.adam) file.emplace_back(pickled::text("optimizer"), adam(first, archive));
    if (tree_.buffers) {
      file.emplace_back(pickled::text("optimizer"),
                        pickled::dict({{"optimizer", pickled::dict({{"param_groups", "]"}})}}));
      root.write(folder + "/distrib_optim.pt", buffers(first, at));
    }
    root.write(folder + "/model_optim_rng.pt", archive.finish(dict_of(file)));
  }

  std::map<std::string, std::int64_t> arguments(const Place& at, std::int64_t world) const {
    return {{"num_layers", tree_.layers},
            {"hidden_size", tree_.hidden},
            {"ffn_hidden_size", tree_.ffn},
            {"num_attention_heads", tree_.heads},
            {"num_query_groups", tree_.groups},
            {"group_query_attention", 1},
            {"kv_channels", tree_.head_dim},
            {"num_experts", tree_.experts > 0 ? tree_.experts : -1},
            {"vocab_size", tree_.vocab},
            {"padded_vocab_size", tree_.padded_vocab()},
            {"make_vocab_size_divisible_by", tree_.divisor},
            {"swiglu", tree_.swiglu ? 1 : 0},
            {"untie_embeddings_and_output_weights", tree_.tied ? 0 : 1},
            {"use_distributed_optimizer", tree_.buffers ? 1 : 0},
            {"tensor_model_parallel_size", tree_.tp},
            {"pipeline_model_parallel_size", tree_.pp},
            {"virtual_pipeline_model_parallel_size", tree_.vpp > 1 ? tree_.vpp : -1},
            {"expert_model_parallel_size", tree_.ep},
            {"expert_tensor_parallel_size", etp_},
            {"world_size", world},
            {"rank", at.rank}};
  }

  /// Group 0 has the matrices, group 1 the rest; ids follow the groups.
  static std::string adam(const MegatronModel& held, Archive& archive) {
    std::vector<std::pair<std::string, std::string>> states;
    std::vector<std::string> groups;
    for (const bool matrices : {true, false}) {
      std::vector<std::string> ids;
      for (const auto& [name, tensor] : held) {
        if ((tensor.shape.size() == 2) != matrices) continue;
        ids.push_back(pickled::integer(std::ssize(states)));
        states.emplace_back(ids.back(),
                            pickled::dict({{"exp_avg", archive.tensor(scaled(tensor, 0.5F))},
                                           {"exp_avg_sq", archive.tensor(scaled(tensor, 2.0F))}}));
      }
      groups.push_back(pickled::dict({{"lr", pickled::integer(1)}, {"params", list_of(ids)}}));
    }
    return pickled::dict({{"state", dict_of(states)}, {"param_groups", list_of(groups)}});
  }

  /// One optimizer; with experts spread over ranks a second one for these, and the first one's
  /// state on the first of the ranks alone.
  std::string buffers(const MegatronModel& held, const Place& at) const {
    Archive archive;
    MegatronModel masters = held;
    if (tree_.change_masters) tree_.change_masters(at.rank, masters);
    if (tree_.ep == 1) return archive.finish(buffer(masters, archive));
    MegatronModel dense, experts;
    for (const auto& [name, tensor] : masters) {
      (has(name, ".experts.") ? experts : dense).emplace(name, tensor);
    }
    const std::string first = at.ep == 0 ? buffer(dense, archive) : "N";
    return archive.finish(list_of({first, buffer(experts, archive)}));
  }

  static std::string buffer(const MegatronModel& masters, Archive& archive) {
    MegatronTensor row;
    for (auto one = masters.rbegin(); one != masters.rend(); ++one) {
      while (row.values.size() % 64 != 0) row.values.push_back(0);
      row.values.insert(row.values.end(), one->second.values.begin(), one->second.values.end());
    }
    row.shape = {std::ssize(row.values)};
    const std::string state = pickled::dict({{"param", archive.tensor(row)},
                                             {"exp_avg", archive.tensor(scaled(row, 0.5F))},
                                             {"exp_avg_sq", archive.tensor(scaled(row, 2.0F))},
                                             {"numel_unpadded", pickled::integer(row.shape[0])}});
    const std::string dtype = pickled::global("torch", "float32");
    return dict_of({{pickled::text("buckets_coalesced"), "\x88"},
                    {pickled::integer(0), dict_of({{pickled::tuple({dtype, dtype}), state}})}});
  }

  const MegatronTree& tree_;
  const MegatronModel& whole_;
  std::int64_t etp_;
};

}  // namespace

std::string megatron_namespace(const std::map<std::string, std::int64_t>& args) {
  std::vector<std::pair<std::string, std::string>> pairs;
  const char* const flags[] = {"swiglu", "untie_embeddings_and_output_weights",
                               "group_query_attention", "use_distributed_optimizer"};
  for (const auto& [name, value] : args) {
    const bool flag = std::ranges::find(flags, name) != std::end(flags);
    pairs.emplace_back(pickled::text(name), flag          ? (value != 0 ? "\x88" : "\x89")
                                            : value == -1 ? "N"
                                                          : pickled::integer(value));
  }
  return pickled::global("argparse", "Namespace") + ")\x81" + dict_of(pairs) + "b";
}

std::int64_t MegatronTree::padded_vocab() const {
  const std::int64_t unit = divisor * tp;
  return (vocab + unit - 1) / unit * unit;
}

MegatronModel MegatronTree::model() const {
  MegatronModel whole;
  const auto add = [&](const std::string& name, Shape shape) {
    whole.emplace(name, made(std::ssize(whole) + 1, std::move(shape)));
  };
  const std::int64_t gated = swiglu ? 2 * ffn : ffn;
  add("embedding.word_embeddings.weight", {vocab, hidden});
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    const std::string stem = fmt::format("decoder.layers.{}.", layer);
    add(stem + "input_layernorm.weight", {hidden});
    add(stem + "self_attention.linear_qkv.weight", {(heads + 2 * groups) * head_dim, hidden});
    add(stem + "self_attention.linear_proj.weight", {hidden, heads * head_dim});
    add(stem + "pre_mlp_layernorm.weight", {hidden});
    if (biases) {
      add(stem + "self_attention.linear_qkv.bias", {(heads + 2 * groups) * head_dim});
      add(stem + "self_attention.linear_proj.bias", {hidden});
    }
    if (experts == 0) {
      add(stem + "mlp.linear_fc1.weight", {gated, hidden});
      add(stem + "mlp.linear_fc2.weight", {hidden, ffn});
      if (biases) add(stem + "mlp.linear_fc1.bias", {gated});
    } else {
      add(stem + "mlp.router.weight", {experts, hidden});
    }
    for (std::int64_t e = 0; e < experts; ++e) {
      const std::string expert = stem + fmt::format("mlp.experts.local_experts.{}.", e);
      add(expert + "linear_fc1.weight", {gated, hidden});
      add(expert + "linear_fc2.weight", {hidden, ffn});
    }
  }
  add("decoder.final_layernorm.weight", {hidden});
  if (!tied) add("output_layer.weight", {vocab, hidden});
  if (!adam && !buffers) return whole;
  const MegatronModel weights = whole;
  for (const auto& [name, tensor] : weights) {
    whole.emplace(name + "@exp_avg", scaled(tensor, 0.5F));
    whole.emplace(name + "@exp_avg_sq", scaled(tensor, 2.0F));
    if (buffers) whole.emplace(name + "@master", tensor);
  }
  return whole;
}

std::vector<std::string> MegatronTree::write(const TempDir& root, const std::string& folder) const {
  const MegatronModel whole = model();
  return Writer(*this, whole).write(root, folder);
}

}  // namespace ttcheck::tests
