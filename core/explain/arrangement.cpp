#include "core/explain/arrangement.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include "core/base/digits.hpp"
#include "core/base/words.hpp"

// A fused or sharded dimension is a row of equal blocks (heads, a rank's part of gate, experts,
// chunks of the sequence), and each known mistake is a permutation of blocks:
//
//   roll       i -> i + n                     shift; of two blocks: gate and up swapped
//   transpose  i -> (i mod r)(n/r) + i/r      parts laid side by side against interleaved: r = 2
//   for
//                                             gate|up, 3 for q|k|v, of as many groups as follows
//   groups     [q.. k v | q.. k v] against [q... k.. v..], of grouped-query attention
//   rotary     a transpose by 2 within every head, or some: halves against pairs
//   zigzag     0 2n-1 1 2n-2 ...              load-balanced context parallelism
//
// The block size is the greatest that all borders of runs are multiples of.

namespace ttcheck::explain {
namespace {

using Order = std::vector<std::int64_t>;

constexpr std::size_t kMostListed = 64;

std::int64_t block_of(const Order& from) {
  auto block = static_cast<std::int64_t>(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (i > 0 && from[i] == from[i - 1] + 1) continue;
    block = std::gcd(block, std::gcd(static_cast<std::int64_t>(i), from[i]));
  }
  return std::max<std::int64_t>(block, 1);
}

Order blocks_of(const Order& from, std::int64_t block) {
  Order order;
  for (std::size_t i = 0; i < from.size(); i += static_cast<std::size_t>(block)) {
    order.push_back(from[i] / block);
  }
  return order;
}

std::optional<std::int64_t> roll_of(const Order& order) {
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] != (static_cast<std::int64_t>(i) + order[0]) % n) return std::nullopt;
  }
  return order[0];
}

/// Is it the transpose of an r x n/r matrix of blocks?
bool is_transpose(const Order& order, std::int64_t begin, std::int64_t n, std::int64_t r) {
  if (r < 2 || n % r != 0 || n / r < 2) return false;
  for (std::int64_t i = 0; i < n; ++i) {
    if (order[static_cast<std::size_t>(begin + i)] != begin + (i % r) * (n / r) + i / r)
      return false;
  }
  return true;
}

bool is_transpose_by(const Order& order, std::int64_t r) {
  const auto n = static_cast<std::int64_t>(order.size());
  return is_transpose(order, 0, n, r) || (n % r == 0 && is_transpose(order, 0, n, n / r));
}

/// Query, key and value blocks by group against one kind after the other, either way.
bool is_grouped(const Order& order) {
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::int64_t groups = 2; groups * 3 <= n; ++groups) {
    if (n % groups != 0) continue;
    const std::int64_t queries = n / groups - 2;  // of one group
    Order grouped;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t group = i / (queries + 2);
      const std::int64_t place = i % (queries + 2);
      grouped.push_back(place < queries ? group * queries + place : groups * place + group);
    }
    Order back(order.size());
    for (std::size_t i = 0; i < grouped.size(); ++i) {
      back[static_cast<std::size_t>(grouped[i])] = static_cast<std::int64_t>(i);
    }
    if (order == grouped || order == back) return true;
  }
  return false;
}

/// Every period is as it was, or its halves are interleaved, the other way round, or swapped.
bool is_rotary(const Order& order, std::int64_t period) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (period < 4 || period % 2 != 0 || n % period != 0) return false;
  for (std::int64_t begin = 0; begin < n; begin += period) {
    bool same = true, swapped = true;
    for (std::int64_t i = 0; i < period; ++i) {
      const std::int64_t from = order[static_cast<std::size_t>(begin + i)] - begin;
      same = same && from == i;
      swapped = swapped && from == (i + period / 2) % period;
    }
    if (!same && !swapped && !is_transpose(order, begin, period, 2) &&
        !is_transpose(order, begin, period, period / 2)) {
      return false;
    }
  }
  return true;
}

bool is_zigzag(const Order& order) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (n < 4 || n % 2 != 0) return false;
  bool forth = true, back = true;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t zigzag = i % 2 == 0 ? i / 2 : n - 1 - i / 2;
    forth = forth && order[static_cast<std::size_t>(i)] == zigzag;
    back = back && order[static_cast<std::size_t>(zigzag)] == i;
  }
  return forth || back;
}

std::int64_t number(const Rearranged& rearranged, std::string_view key) {
  if (rearranged.numbers == nullptr) return 0;
  const auto found = rearranged.numbers->find(key);
  return found == rearranged.numbers->end() ? 0 : found->second;
}

bool is_rotary_of_any(const Order& order, std::int64_t block, std::int64_t head_dim) {
  const auto n = static_cast<std::int64_t>(order.size());
  if (head_dim > 0 && head_dim % block == 0 && is_rotary(order, head_dim / block)) return true;
  for (std::int64_t period = 4; 2 * period <= n; period += 2) {
    if (is_rotary(order, period)) return true;
  }
  return false;
}

/// Whether experts lie along that dimension: of a stack or a router, not of one expert by itself.
bool are_experts(const Rearranged& rearranged) {
  const std::string_view name = rearranged.tensor;
  constexpr std::string_view kExperts = "experts.";
  const std::size_t at = name.find(kExperts);
  const std::size_t next = at == std::string_view::npos ? name.size() : at + kExperts.size();
  if (rearranged.dim != 0 || (next < name.size() && is_digit(name[next]))) return false;
  return has_any(name, {"expert", "router", ".gate.weight", ".gate.bias", ".wg."});
}

std::string name_of(const Order& order, std::int64_t block, const Rearranged& rearranged) {
  const std::string& name = rearranged.tensor;
  const bool glu = has_any(name, {"gate", "up_proj", "fc1", "w1", "w3", "glu", "mlp", "h_to_4h"});
  const bool attention =
      has_any(name, {"att", "qkv", "q_proj", "k_proj", "v_proj", "query", "rope"});
  const std::int64_t head_dim = number(rearranged, "head_dim");
  if (are_experts(rearranged)) return "experts";
  if (!glu && is_rotary_of_any(order, block, head_dim)) return "rope-halves";
  if (!glu && (is_grouped(order) || is_transpose_by(order, 3))) return "qkv-interleave";
  if (is_zigzag(order) && !attention && !glu) return "zigzag";
  if (is_transpose_by(order, 2) || (order.size() == 2 && !attention) || glu) return "glu-halves";
  if (roll_of(order)) return "shift";
  if (attention && (head_dim == 0 || block % head_dim == 0)) return "heads";
  const auto n = static_cast<std::int64_t>(order.size());
  for (std::int64_t r = 2; r < n; ++r) {
    if (is_transpose(order, 0, n, r)) return "strided-chunks";
  }
  return "permutation";
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
