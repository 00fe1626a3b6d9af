// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/tp_blocks.hpp"

#include <algorithm>
#include <array>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::array<std::string_view, 2> kAlongRows = {"self_attention.dense.weight",
                                                        "mlp.dense_4h_to_h.weight"};
constexpr std::array<std::string_view, 2> kRowBiases = {"self_attention.dense.bias",
                                                        "mlp.dense_4h_to_h.bias"};

bool is_replicated(std::string_view name) {
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  return name.find("norm") != std::string_view::npos ||
         name.find("position_embeddings") != std::string_view::npos ||
         std::ranges::any_of(kRowBiases, ends);
}

DeepspeedMerge merge_by_name(std::string_view name) {
  if (is_replicated(name)) return DeepspeedMerge::replicated;
  const bool rows =
      std::ranges::any_of(kAlongRows, [&](std::string_view end) { return name.ends_with(end); });
  return rows ? DeepspeedMerge::rows : DeepspeedMerge::first;
}

/// Leaves out the rows behind the vocabulary.
void trim(std::vector<DeepspeedBlock>& blocks, std::int64_t rows) {
  for (DeepspeedBlock& block : blocks) {
    const std::int64_t left = std::max<std::int64_t>(rows - block.lo[0], 0);
    block.shape[0] = std::min(block.shape[0], left);
    block.logical[0] = rows;
  }
  std::erase_if(blocks, [](const DeepspeedBlock& block) { return block.shape[0] == 0; });
}

std::vector<DeepspeedBlock> merged(const Shape& shape, DeepspeedMerge merge,
                                   const DeepspeedPlace& place) {
  const DeepspeedBlock whole{shape, Extents(shape.size(), 0), shape, 0};
  if (place.count == 1 || shape.empty() || merge == DeepspeedMerge::replicated) return {whole};
  const std::size_t dim = merge == DeepspeedMerge::rows && shape.size() > 1 ? 1 : 0;
  if (merge == DeepspeedMerge::halves && has_halves(shape)) {
    const std::int64_t here = shape[0] / 2;
    const SubParamRows half = {checked_mul(place.rank, here), here, checked_mul(place.count, here)};
    return *blocks_of_rows(shape, {half, half});
  }
  DeepspeedBlock block = whole;
  block.lo[dim] = checked_mul(place.rank, shape[dim]);
  block.logical[dim] = checked_mul(place.count, shape[dim]);
  return {block};
}

std::vector<DeepspeedBlock> blocks_by_rules(std::string_view name, const Shape& shape,
                                            const DeepspeedPlace& place) {
  if (!place.rules) return merged(shape, merge_by_name(name), place);
  auto stated = place.rules->blocks_of(name, shape, place.rank, place.count);
  return stated ? *std::move(stated) : merged(shape, place.rules->merge_of(name), place);
}

}  // namespace

std::vector<DeepspeedBlock> blocks_of(std::string_view name, const Shape& shape,
                                      const DeepspeedPlace& place) {
  name = name.substr(0, name.find('@'));
  std::vector<DeepspeedBlock> blocks = blocks_by_rules(name, shape, place);
  const auto rows = place.rules ? place.rules->vocabulary_of(name) : std::nullopt;
  const bool padded = rows && !blocks.empty() && !shape.empty() && *rows > 0 &&
                      *rows < blocks[0].logical[0];  // which is that of all blocks
  if (padded) trim(blocks, *rows);
  return blocks;
}

std::vector<Record> placed(Record part, const DeepspeedPlace& place) {
  std::vector<DeepspeedBlock> blocks = blocks_of(part.identity.name, part.shape, place);
  const bool whole = blocks.size() == 1 && blocks[0].shape == part.shape;
  if (whole && blocks[0].logical == part.shape) return {std::move(part)};
  if (!whole && !part.piece.cells.empty()) {
    throw Error("is not row-major, and its blocks cannot be told apart", part.piece.where());
  }
  std::vector<Record> records;
  for (DeepspeedBlock& block : blocks) {
    Record& record = records.emplace_back(part);
    record.piece.offset = checked_add(record.piece.offset, byte_size(record.dtype, block.begin));
    record.shape = std::move(block.shape);
    record.logical = std::move(block.logical);
    record.box_lo = std::move(block.lo);
  }
  return records;
}

std::vector<Record> placed(Record row, std::int64_t begin, const Shape& shape,
                           const DeepspeedPlace& place) {
  const std::int64_t end = checked_add(begin, row.shape[0]);
  std::vector<Record> records;
  for (DeepspeedBlock& block : blocks_of(row.identity.name, shape, place)) {
    const std::int64_t from = std::max(begin, block.begin);
    const std::int64_t to = std::min(end, checked_add(block.begin, element_count(block.shape)));
    if (from >= to) continue;
    Record& record = records.emplace_back(row);
    record.shape = {to - from};
    record.piece.offset = checked_add(record.piece.offset, byte_size(record.dtype, from - begin));
    record.logical = std::move(block.logical);
    record.box_lo = std::move(block.lo);
    record.flat = FlatRange{std::move(block.shape), from - block.begin};
  }
  return records;
}

}  // namespace ttcheck::formats
