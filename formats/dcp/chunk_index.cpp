// SPDX-License-Identifier: Apache-2.0
#include "formats/dcp/chunk_index.hpp"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/base/index_table.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kFewChunks = 16;  ///< of a tensor: looked through, more are indexed

bool is_empty(const DcpChunk& chunk) {
  return std::ranges::find(chunk.sizes, 0) != chunk.sizes.end();
}

}  // namespace

struct ChunkIndex::Table {
  /// A chunk by its tensor and its place; the extents lie in the table or in what is looked for.
  struct Key {
    std::size_t tensor = 0;
    const Extents* offsets = nullptr;

    bool operator==(const Key& other) const {
      return tensor == other.tensor && *offsets == *other.offsets;
    }
  };

  struct Hash {
    std::size_t operator()(const Key& key) const {
      const std::uint64_t place = XXH3_64bits_withSeed(
          key.offsets->data(), key.offsets->size() * sizeof(std::int64_t), hash_key());
      const std::array<std::uint64_t, 2> both = {place, key.tensor};
      return XXH3_64bits_withSeed(both.data(), sizeof(both), hash_key());
    }
  };

  std::unordered_map<Key, std::size_t, Hash> chunks;
};

ChunkIndex::ChunkIndex(const std::vector<DcpTensor>& tensors) {
  auto table = std::make_shared<Table>();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    const std::vector<DcpChunk>& chunks = tensors[t].chunks;
    if (chunks.size() <= kFewChunks) continue;
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      const auto [known, fresh] = table->chunks.try_emplace(Table::Key{t, &chunks[c].offsets}, c);
      if (!fresh && !is_empty(chunks[c])) known->second = c;
    }
  }
  table_ = std::move(table);
}

DcpChunk* ChunkIndex::find(std::vector<DcpTensor>& tensors, std::size_t tensor,
                           const Extents& place) const {
  std::vector<DcpChunk>& chunks = tensors[tensor].chunks;
  if (chunks.size() > kFewChunks) {
    const auto at = table_->chunks.find(Table::Key{tensor, &place});
    return at == table_->chunks.end() ? nullptr : &chunks[at->second];
  }
  DcpChunk* found = nullptr;
  for (DcpChunk& chunk : chunks) {
    if (chunk.offsets != place) continue;
    if (found == nullptr || !is_empty(chunk)) found = &chunk;
  }
  return found;
}

}  // namespace ttcheck::formats
