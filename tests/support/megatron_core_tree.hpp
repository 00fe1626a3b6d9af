// SPDX-License-Identifier: Apache-2.0
#pragma once
// A distributed checkpoint of Megatron core, by hand: two layers, two tensor parallel ranks, a file
// a rank, a padded vocabulary; every element of a tensor has a value of its own.

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/dcp_writer.hpp"
#include "tests/support/megatron_tree.hpp"

namespace ttcheck::tests {

class MegatronCoreTree {
 public:
  static constexpr std::size_t kTensors = 7;  ///< that are read of it

  std::map<std::string, std::int64_t> args = {{"num_layers", 2},
                                              {"hidden_size", 4},
                                              {"ffn_hidden_size", 6},
                                              {"vocab_size", 13},
                                              {"padded_vocab_size", 16},
                                              {"make_vocab_size_divisible_by", 4},
                                              {"untie_embeddings_and_output_weights", 1},
                                              {"tensor_model_parallel_size", 2},
                                              {"world_size", 2}};
  std::int64_t iteration = 10;
  std::int64_t rows = 16;      ///< of the embedding, that the table promises
  bool without_place = false;  ///< a chunk that the table leaves out

  void write(const TempDir& root, const std::string& folder) {
    add("embedding.word_embeddings.weight", {rows, 4}, {{0, {0, 0}, {8, 4}}, {1, {8, 0}, {8, 4}}});
    add("output_layer.weight", {16, 4}, {{0, {0, 0}, {8, 4}}, {1, {8, 0}, {8, 4}}});
    add("decoder.final_layernorm.weight", {4}, {{0, {0}, {4}}});
    const std::string layers = "decoder.layers.";
    add(layers + "input_layernorm.weight", {2, 4}, {{0, {0, 0}, {1, 4}}, {0, {1, 0}, {1, 4}}});
    std::vector<Part> parts = {{0, {0, 0, 0}, {1, 4, 3}},
                               {1, {0, 0, 3}, {1, 4, 3}},
                               {0, {1, 0, 0}, {1, 4, 3}},
                               {1, {1, 0, 3}, {1, 4, 3}}};
    if (without_place) parts.pop_back();
    add(layers + "mlp.linear_fc2.weight", {2, 4, 6}, parts);
    root.write(folder + "/metadata.json", R"({"sharded_backend":"torch_dist"})");
    root.write(folder + "/.metadata", table_.bytes());
    for (const auto& [name, bytes] : files_) root.write(folder + "/" + name, bytes);
    root.write(folder + "/common.pt",
               torch_archive(pickled::dict({{"args", megatron_namespace(args)},
                                            {"iteration", pickled::integer(iteration)}})));
  }

 private:
  struct Part {
    int rank = 0;
    std::vector<std::int64_t> lo, shape;
  };

  void add(const std::string& name, const std::vector<std::int64_t>& size,
           const std::vector<Part>& parts) {
    std::vector<DcpWriter::Chunk> chunks;
    for (const Part& part : parts) {
      std::vector<float> values;
      std::int64_t count = 1;
      for (const std::int64_t extent : part.shape) count *= extent;
      for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(next_++));
      const std::string file = fmt::format("__{}_0.distcp", part.rank);
      const std::string item = DcpWriter::chunk(part.shape, values);
      std::string& bytes = files_[file];
      chunks.push_back({part.lo,
                        part.shape,
                        {file, static_cast<std::int64_t>(bytes.size()),
                         static_cast<std::int64_t>(item.size())}});
      bytes += item;
    }
    table_.tensor(name, size, chunks);
  }

  DcpWriter table_;
  std::map<std::string, std::string> files_;
  std::int64_t next_ = 1;
};

}  // namespace ttcheck::tests
