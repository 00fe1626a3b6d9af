// SPDX-License-Identifier: Apache-2.0
// A fused or sharded dimension is a row of equal blocks (heads, a rank's part of gate, experts,
// chunks of the sequence), and each known mistake is a permutation of blocks:
//
//   roll       i -> i + n                     shift; of two blocks: gate and up swapped
//   transpose  i -> (i mod r)(n/r) + i/r      parts laid side by side against interleaved: r = 2
//                                             for gate|up
//   groups     [q.. k v | q.. k v] against [q... k.. v..], of grouped-query attention; of one query
//              a group it is a transpose by 3
//   rotary     a transpose by 2 within every head, or some: halves against pairs
//   zigzag     0 2n-1 1 2n-2 ...              load-balanced context parallelism
//
// The block size is the greatest that all borders of runs are multiples of. One order may be more
// than one of these; what a tensor is in its layer says which of them it can be: only queries and
// keys rotate, only a gated MLP has gate and up.

#include "core/explain/arrangement.hpp"

#include <string_view>

#include "core/base/words.hpp"
#include "core/explain/layer_part.hpp"
#include "core/explain/orders.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::size_t kMostListed = 64;

std::int64_t number(const Rearranged& rearranged, std::string_view key) {
  if (rearranged.numbers == nullptr) return 0;
  const auto found = rearranged.numbers->find(key);
  return found == rearranged.numbers->end() ? 0 : found->second;
}

/// Whole experts of a stack or a router have moved.
bool are_experts(const Rearranged& rearranged, std::int64_t block) {
  if (rearranged.dim != 0 || !stacks_experts(rearranged.tensor)) return false;
  const auto extent = static_cast<std::int64_t>(rearranged.from.size());
  const std::int64_t experts = number(rearranged, "experts");
  return experts <= 0 || extent % experts != 0 || block % (extent / experts) == 0;
}

/// Slices that a head may take, as far as is known: rotary parts are sought in these.
std::vector<std::int64_t> head_extents(const Rearranged& rearranged) {
  const auto extent = static_cast<std::int64_t>(rearranged.from.size());
  std::vector<std::int64_t> extents = {number(rearranged, "head_dim")};  // 0 is no period
  const std::int64_t heads = number(rearranged, "heads");
  // Latent attention: a head of queries is longer than the rotary part that configs call head_dim.
  if (heads > 0 && extent % heads == 0) extents.push_back(extent / heads);
  if (has_any(rearranged.tensor, {"kv_a", "kv_down"})) extents.push_back(extent);
  return extents;
}

bool is_rotary_of_heads(const Order& order, std::int64_t block, const Rearranged& rearranged) {
  for (const std::int64_t extent : head_extents(rearranged)) {
    if (extent % block == 0 && is_rotary(order, extent / block, true)) return true;
  }
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::int64_t period = 4; 2 * period <= n; ++period) {
    if (is_rotary(order, period, false)) return true;
  }
  return false;
}

std::string_view name_of_heads(const Order& order, std::int64_t block, const Rearranged& rearranged,
                               LayerPart part) {
  const std::int64_t head_dim = number(rearranged, "head_dim");
  const bool are_whole = head_dim > 1 && block % head_dim == 0;
  const bool rotates = part == LayerPart::rotary;
  if (rotates && !are_whole && is_rotary_of_heads(order, block, rearranged)) return "rope-halves";
  if (may_be_fused_qkv(rearranged.tensor) && is_grouped(order)) {
    return "qkv-interleave";
  }
  if (roll_of(order)) return "shift";
  return are_whole || (head_dim == 0 && block > 1) ? "heads" : "";
}

/// Keys and values in one: both of each head side by side, or all keys before all values.
std::string_view name_of_key_value(const Order& order, std::int64_t block,
                                   const Rearranged& rearranged) {
  if (is_split(order)) return "qkv-interleave";
  if (is_roll_of_each(order, 0)) return "heads";  // as it is of a fused query, key and value
  const auto extent = static_cast<std::int64_t>(rearranged.from.size());
  const std::int64_t heads = number(rearranged, "heads");
  if (heads <= 0 || extent % heads != 0) return "";
  const std::int64_t head = extent / heads;
  const bool swapped = head % block == 0 && is_roll_of_each(order, head / block);
  return swapped || block % head == 0 ? "heads" : "";
}

/// What an order looks like most, where the name of the tensor says nothing.
std::string_view name_of_unknown(const Order& order, std::int64_t block,
                                 const Rearranged& rearranged) {
  if (is_rotary_of_heads(order, block, rearranged)) return "rope-halves";
  if (is_grouped(order)) return "qkv-interleave";
  if (is_zigzag(order)) return "zigzag";
  return is_transpose_by(order, 2) || order.size() == 2 ? "glu-halves" : "";
}

/// What such a tensor is cut into; empty where no known layout moves its blocks so.
std::string_view name_of_part(const Order& order, std::int64_t block,
                              const Rearranged& rearranged) {
  const LayerPart part = layer_part_of(rearranged.tensor);
  switch (part) {
    case LayerPart::gated:
      return is_two_parts(order) ? "glu-halves" : "";
    case LayerPart::rotary:
    case LayerPart::heads:
      return name_of_heads(order, block, rearranged, part);
    case LayerPart::key_value:
      return name_of_key_value(order, block, rearranged);
    case LayerPart::plain:
      return is_zigzag(order) ? "zigzag" : "";
    case LayerPart::unknown:
      return name_of_unknown(order, block, rearranged);
  }
  return "";
}

std::string_view name_of(const Order& order, std::int64_t block, const Rearranged& rearranged) {
  if (are_experts(rearranged, block)) return "experts";
  const std::string_view name = name_of_part(order, block, rearranged);
  if (!name.empty()) return name;
  if (roll_of(order)) return "shift";
  return is_transpose_of_any(order) ? "strided-chunks" : "permutation";
}

}  // namespace

Arrangement arrangement_of(const Rearranged& rearranged) {
  Arrangement found;
  found.block = block_of(rearranged.from);
  const Order order = blocks_of(rearranged.from, found.block);
  found.name = name_of(order, found.block, rearranged);
  if (found.name == "shift") {
    const auto n = static_cast<std::int64_t>(order.size());
    const std::int64_t by = roll_of(order).value_or(0);
    found.shift = (2 * by <= n ? by : by - n) * found.block;
  }
  if (order.size() <= kMostListed) found.order = order;
  return found;
}

}  // namespace ttcheck::explain
