// SPDX-License-Identifier: Apache-2.0
#include "core/align/counted_ops.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "core/align/sequence.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kMostCells = 1'000'000;   // of one stretch
constexpr std::size_t kMostInAll = 64'000'000;  // a second or less

/// One call of an op: its records, in their order.
struct Op {
  std::string_view name;
  Phase phase = Phase::forward;
  const CountedOp* counted = nullptr;
  std::vector<std::size_t> tensors;
  std::uint32_t symbol = 0;  ///< equal for ops that agree in all but their counters
  std::uint32_t holds = 0;   ///< equal for ops whose records agree in slot, dtype and shape
};

std::string_view slot_of(const Tensor& tensor) {
  const std::string_view name = tensor.identity.name;
  return name.substr(std::min(name.size(), module_of(tensor.identity).size()));
}

std::int32_t rank_of_op(const Tensor& tensor) {
  return tensor.pieces.empty() ? kNoRank : tensor.pieces.front().rank;
}

/// Ops in the order of their ranks and in that in which they ran.
std::vector<Op> ops_of(std::span<const Tensor> tensors, std::span<const std::size_t> chosen) {
  std::vector<std::size_t> order;
  for (const std::size_t i : chosen) {
    if (is_counted(tensors[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(rank_of_op(tensors[i]), tensors[i].trace->seq);
  });
  std::vector<Op> ops;
  using Key = std::tuple<std::string_view, Phase, std::int32_t, std::int32_t>;
  std::map<Key, std::size_t> known;
  for (const std::size_t i : order) {
    const Identity& id = tensors[i].identity;
    const Key key{module_of(id), id.phase, id.microbatch, id.call};
    const auto [slot, fresh] = known.try_emplace(key, ops.size());
    if (fresh) ops.push_back({module_of(id), id.phase, &tensors[i].trace->counted, {}});
    ops[slot->second].tensors.push_back(i);
  }
  return ops;
}

/// Numbers for what ops are but for their counters.
class SymbolTable {
 public:
  std::vector<std::uint32_t> number(std::vector<Op>& ops, std::span<const Tensor> tensors) {
    std::vector<std::uint32_t> symbols;
    for (Op& op : ops) {
      std::string text;
      for (const std::size_t i : op.tensors) {
        text += fmt::format("{} {} {}\n", slot_of(tensors[i]), name(tensors[i].dtype),
                            fmt::join(tensors[i].shape, ","));
      }
      op.holds = number_of(text);
      op.symbol = number_of(
          fmt::format("{}{}\n{}\n{}", text, op.counted->base, op.counted->within, name(op.phase)));
      symbols.push_back(op.symbol);
    }
    return symbols;
  }

 private:
  std::uint32_t number_of(std::string text) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return numbers_.try_emplace(std::move(text), next).first->second;
  }

  NameMap<std::uint32_t> numbers_;
};

/// Names of ops that compute and run as often in one stretch as in the other.
std::set<std::string_view> as_often(std::span<const Op> a, std::span<const Op> b) {
  std::map<std::string_view, std::int64_t> more;
  for (const Op& op : a) ++more[op.counted->base];
  for (const Op& op : b) --more[op.counted->base];
  std::set<std::string_view> names;
  for (const Op& op : a) {
    if (!op.counted->moves && more[op.counted->base] == 0) names.insert(op.counted->base);
  }
  return names;
}

/// How well two ops go together; 0: not at all. Another shape is a fault of one of them where
/// `alike` has their name; else it is another op.
int score(const Op& a, const Op& b, const std::set<std::string_view>& alike) {
  if (a.counted->base != b.counted->base) return 0;
  if (a.holds != b.holds && !alike.contains(a.counted->base)) return 0;
  return 1 + (a.counted->within == b.counted->within ? 2 : 0) + (a.symbol == b.symbol ? 4 : 0) +
         (a.name == b.name ? 1 : 0);
}

using Match = std::pair<std::size_t, std::size_t>;

/// Pairs ops of two stretches so that the sum of their scores is largest.
std::vector<Match> best_matches(std::span<const Op> a, std::span<const Op> b) {
  enum : char { matched, skip_a, skip_b };
  const std::set<std::string_view> alike = as_often(a, b);
  const std::size_t width = b.size() + 1;
  std::vector<char> way((a.size() + 1) * width, skip_a);
  std::vector<int> above(width), row(width);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      char& here = way[i * width + j];
      row[j] = above[j];
      if (row[j - 1] > row[j]) {
        row[j] = row[j - 1];
        here = skip_b;
      }
      const int both = score(a[i - 1], b[j - 1], alike);
      if (both > 0 && above[j - 1] + both > row[j]) {
        row[j] = above[j - 1] + both;
        here = matched;
      }
    }
    std::swap(above, row);
  }
  std::vector<Match> matches;
  for (std::size_t i = a.size(), j = b.size(); i > 0 && j > 0;) {
    const char here = way[i * width + j];
    if (here == matched) matches.emplace_back(i - 1, j - 1);
    if (here != skip_b) --i;
    if (here != skip_a) --j;
  }
  std::ranges::reverse(matches);
  return matches;
}

/// `exact`, with what goes together in the stretches between.
std::vector<Match> with_loose(std::span<const Op> a, std::span<const Op> b,
                              std::vector<Match> exact) {
  std::vector<Match> all;
  std::size_t most = kMostInAll;
  Match from{0, 0};
  exact.emplace_back(a.size(), b.size());
  for (const auto& [i, j] : exact) {
    const std::span<const Op> left = a.subspan(from.first, i - from.first);
    const std::span<const Op> right = b.subspan(from.second, j - from.second);
    const std::size_t cells = left.size() * right.size();
    if (cells <= std::min(kMostCells, most)) {
      most -= cells;
      for (const auto& [x, y] : best_matches(left, right)) {
        all.emplace_back(from.first + x, from.second + y);
      }
    }
    if (i < a.size()) all.emplace_back(i, j);
    from = {i + 1, j + 1};
  }
  return all;
}

/// Pairs the records of two ops.
void pair_records(const Op& a, std::span<const Tensor> reference, const Op& b,
                  std::span<const Tensor> candidate, CountedPairs& out) {
  std::map<std::pair<std::string_view, Phase>, std::size_t> there;
  const auto key = [](const Tensor& tensor) {
    return std::pair(slot_of(tensor), tensor.identity.phase);
  };
  for (const std::size_t j : b.tensors) there.emplace(key(candidate[j]), j);
  for (const std::size_t i : a.tensors) {
    const auto found = there.find(key(reference[i]));
    if (found == there.end()) {
      out.only_reference.push_back(i);
      continue;
    }
    out.pairs.push_back(
        {i, found->second, std::string(a.name == b.name ? kSameName : kOrderOfOps)});
    there.erase(found);
  }
  for (const std::size_t j : b.tensors) {
    const auto found = there.find(key(candidate[j]));
    if (found != there.end() && found->second == j) out.only_candidate.push_back(j);
  }
}

/// Ops of one name that met nothing and hold other things are two ops.
void keep_apart(std::span<const Op> a, std::span<const Op> b, std::span<const Match> matches,
                CountedPairs& out) {
  std::vector<char> met_a(a.size()), met_b(b.size());
  for (const auto& [i, j] : matches) met_a[i] = met_b[j] = 1;
  std::map<std::pair<std::string_view, Phase>, std::size_t> alone;
  for (std::size_t j = 0; j < b.size(); ++j) {
    if (met_b[j] == 0) alone.emplace(std::pair(b[j].name, b[j].phase), j);
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto found = met_a[i] != 0 ? alone.end() : alone.find({a[i].name, a[i].phase});
    if (found == alone.end() || b[found->second].holds == a[i].holds) continue;
    const std::vector<std::size_t>& other = b[found->second].tensors;
    out.only_reference.insert(out.only_reference.end(), a[i].tensors.begin(), a[i].tensors.end());
    out.only_candidate.insert(out.only_candidate.end(), other.begin(), other.end());
  }
}

}  // namespace

CountedPairs pair_counted_ops(std::span<const Tensor> reference, std::span<const std::size_t> left,
                              std::span<const Tensor> candidate,
                              std::span<const std::size_t> right) {
  CountedPairs out;
  std::vector<Op> a = ops_of(reference, left);
  std::vector<Op> b = ops_of(candidate, right);
  if (a.empty() || b.empty()) return out;
  SymbolTable table;
  const auto first = table.number(a, reference);
  const auto second = table.number(b, candidate);
  const std::vector<Match> matches = with_loose(a, b, common_sequence(first, second));
  for (const auto& [i, j] : matches) pair_records(a[i], reference, b[j], candidate, out);
  keep_apart(a, b, matches, out);
  return out;
}

}  // namespace ttcheck::align
