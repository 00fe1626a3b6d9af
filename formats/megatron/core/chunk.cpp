// SPDX-License-Identifier: Apache-2.0
// Where `layers.` or `experts.experts.` in a key is followed by no digit, the number is left out
// and the tensor has one axis more in front. A chunk gives a record for each index of these axes,
// and record i begins i times its size behind the chunk's first byte.
// The stored size of a flattened tensor is the number of blocks along each axis, then the
// elements of one block. A chunk of it lies in one block and becomes a range of that block, which
// must not span several layers or experts. A half of a gated layer becomes the first or second
// half of a tensor with twice the rows. Rows behind the true vocabulary are cut off; a chunk that
// has no others gives no record.
// The table states all these shapes and may be wrong: those that do not fit each other throw
// Error, as does a chunk of more than 2^20 records.

#include "formats/megatron/core/chunk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "core/base/digits.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kState = "optimizer.state.";
constexpr std::string_view kBuckets = "optimizer.distributed.";
constexpr std::string_view kChained = "chained_";
constexpr std::int64_t kMaxRecords = 1 << 20;  ///< of one chunk

/// The halves of a gated layer, gate first; the last letters are no part of the parameter's name.
constexpr std::pair<std::string_view, std::int64_t> kHalves[] = {
    {"linear_fc1.weight_w", 0},
    {"linear_fc1.weight_v", 1},
    {"linear_fc1.bias_w", 0},
    {"linear_fc1.bias_v", 1},
};
constexpr std::size_t kHalfMark = 2;

/// The place behind `word` in the name, where a number is left out; npos: there is none, or the
/// number is there.
std::size_t gap_behind(std::string_view name, std::string_view word) {
  const std::size_t at = name.find(word);
  if (at == std::string_view::npos || (at > 0 && name[at - 1] != '.'))
    return std::string_view::npos;
  const std::size_t end = at + word.size();
  return end < name.size() && !is_digit(name[end]) ? end : std::string_view::npos;
}

std::string numbered(const MegatronKey& key, const Extents& numbers) {
  std::string name = key.name;
  for (std::size_t i = key.numbers_at.size(); i-- > 0;) {
    name.insert(key.numbers_at[i], fmt::format("{}.", numbers[i]));
  }
  return name + key.suffix;
}

Extents without(const Extents& extents, std::size_t front) {
  return {extents.begin() + static_cast<std::ptrdiff_t>(front), extents.end()};
}

/// The place of a chunk, flattened or not, before the stacked axes are taken off.
struct Place {
  Shape logical, lo, shape;
  std::optional<FlatRange> flat;
};

Place chunk_place(const DcpTensor& tensor, const DcpChunk& chunk, const Shape* orig) {
  if (orig == nullptr) return {tensor.size, chunk.offsets, chunk.sizes, std::nullopt};
  Place place{*orig, {}, {}, FlatRange()};
  const std::size_t dims = orig->size();
  if (tensor.size.size() != dims + 1) throw Error("the flattened shape is not that of its blocks");
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t count = tensor.size[d];
    if (count <= 0 || (*orig)[d] % count != 0 || chunk.sizes[d] != 1) {
      throw Error("the flattened shape is not that of its blocks");
    }
    const std::int64_t block = (*orig)[d] / count;
    place.flat->block.push_back(block);
    place.lo.push_back(checked_mul(chunk.offsets[d], block));
  }
  place.flat->begin = chunk.offsets[dims];
  place.shape = {chunk.sizes[dims]};
  return place;
}

/// Takes the rows past `rows` away; false when nothing is left.
bool trim(Place& place, std::int64_t rows) {
  if (rows <= 0 || place.logical.empty() || place.logical[0] <= rows) return true;
  place.logical[0] = rows;
  if (place.lo[0] >= rows) return false;
  const std::int64_t left = rows - place.lo[0];
  if (!place.flat) {
    place.shape[0] = std::min(place.shape[0], left);
    return true;
  }
  place.flat->block[0] = std::min(place.flat->block[0], left);
  const std::int64_t all = element_count(place.flat->block);
  if (place.flat->begin >= all) return false;
  place.shape[0] = std::min(place.shape[0], all - place.flat->begin);
  return true;
}

}  // namespace

MegatronKey megatron_key(std::string_view text) {
  MegatronKey key;
  if (text.starts_with(kChained)) {
    const std::size_t dot = text.find('.');
    if (dot != std::string_view::npos) text.remove_prefix(dot + 1);
  }
  key.placed = !text.starts_with(kBuckets);
  if (text.starts_with(kState)) {
    text.remove_prefix(kState.size());
    const std::string_view kind = text.substr(0, text.find('.'));
    text.remove_prefix(std::min(text.size(), kind.size() + 1));
    const bool master = kind == "param" || kind == "fp32_param";
    key.suffix = master ? "@master" : fmt::format("@{}", kind);
  }
  key.name = text;
  for (const auto& [end, half] : kHalves) {
    if (!key.name.ends_with(end)) continue;
    key.name.resize(key.name.size() - kHalfMark);
    key.half = half;
    break;
  }
  const auto stack = [&](std::string_view word, std::optional<std::size_t>& axis) {
    const std::size_t at = gap_behind(key.name, word);
    if (at == std::string_view::npos) return;
    axis = key.stacked++;
    key.numbers_at.push_back(at);
  };
  stack("layers.", key.layers);
  stack("experts.experts.", key.experts);
  for (const std::string_view end :
       {"word_embeddings.weight", "output_layer.weight", "output_layer.bias", "embedding.weight"}) {
    key.vocabulary = key.vocabulary || (key.stacked == 0 && text.ends_with(end) &&
                                        !text.ends_with("position_embeddings.weight"));
  }
  return key;
}

Shape whole_shape(const MegatronKey& key, Shape stored) {
  if (key.half && key.stacked < stored.size()) {
    stored[key.stacked] = checked_mul<std::int64_t>(stored[key.stacked], 2);
  }
  return stored;
}

std::int64_t megatron_record_count(const MegatronKey& key, const DcpChunk& chunk) {
  const std::size_t stacked = std::min(key.stacked, chunk.sizes.size());
  const std::int64_t count = checked_product(std::span(chunk.sizes).first(stacked));
  if (count > kMaxRecords) throw Error("a chunk spans too many layers and experts");
  return count;
}

std::vector<Record> megatron_records(const MegatronKey& key, const DcpTensor& tensor,
                                     const DcpChunk& chunk, const Shape* orig,
                                     std::int64_t vocabulary) {
  Place place = chunk_place(tensor, chunk, orig);
  std::vector<Record> records;
  if (key.stacked + (key.half ? 1 : 0) > place.logical.size()) {
    throw Error(fmt::format("{} has {} dimensions, {} more were expected for layers and experts",
                            tensor.name, place.logical.size(), key.stacked));
  }
  if (key.half) {
    const std::int64_t rows = place.logical[key.stacked];
    place.logical = whole_shape(key, std::move(place.logical));
    place.lo[key.stacked] = checked_add(place.lo[key.stacked], checked_mul(*key.half, rows));
  }
  if (key.vocabulary && !trim(place, vocabulary)) return records;
  const Shape& extent = place.flat ? place.flat->block : place.shape;
  const std::span front(extent.data(), key.stacked);
  if (place.flat && checked_product(front) != 1) {
    throw Error("a flattened block spans several layers or experts");
  }
  const std::int64_t count = place.flat ? 1 : megatron_record_count(key, chunk);
  const Shape stacked(front.begin(), front.end());
  for (std::int64_t i = 0; i < count; ++i) {
    Extents numbers = unravel(stacked, i);
    for (std::size_t d = 0; d < key.stacked; ++d) numbers[d] += place.lo[d];
    Record& record = records.emplace_back();
    record.identity.name = numbered(key, numbers);
    record.logical = without(place.logical, key.stacked);
    record.box_lo = without(place.lo, key.stacked);
    record.shape = place.flat ? place.shape : without(place.shape, key.stacked);
    if (place.flat) {
      record.flat = FlatRange{without(place.flat->block, key.stacked), place.flat->begin};
    }
    const auto elements = checked_mul(i, element_count(record.shape));
    record.piece.offset = tensor.dtype ? byte_size(*tensor.dtype, elements) : 0;
  }
  return records;
}

}  // namespace ttcheck::formats
