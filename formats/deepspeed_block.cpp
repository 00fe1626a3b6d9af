#include "formats/deepspeed_block.hpp"

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

}  // namespace

DeepspeedBlock block_of(std::string_view name, const Shape& shape, std::int64_t rank,
                        std::int64_t count) {
  DeepspeedBlock block{shape, Extents(shape.size(), 0)};
  name = name.substr(0, name.find('@'));
  if (count == 1 || shape.empty() || is_replicated(name)) return block;
  const bool rows =
      std::ranges::any_of(kAlongRows, [&](std::string_view end) { return name.ends_with(end); });
  const std::size_t dim = rows && shape.size() > 1 ? 1 : 0;
  block.lo[dim] = checked_mul(rank, shape[dim]);
  block.logical[dim] = checked_mul(count, shape[dim]);
  return block;
}

void place(Record& record, std::int64_t rank, std::int64_t count) {
  if (count == 1) return;
  DeepspeedBlock block = block_of(record.identity.name, record.shape, rank, count);
  record.logical = std::move(block.logical);
  record.box_lo = std::move(block.lo);
}

}  // namespace ttcheck::formats
