// SPDX-License-Identifier: Apache-2.0
// A whole is walked from its first row on: what begins as it goes on there, and is in it to its own
// end, is its next part. So each whole is read once, and a part as often as its first elements
// occur in a whole. Parts whose first elements are all the same are passed over: they tell nothing.

#include "core/align/joined_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/align/map_op.hpp"
#include "core/align/op_boxes.hpp"
#include "core/base/error.hpp"

namespace ttcheck::align {
namespace {

constexpr std::int64_t kFirst = 8;       ///< elements that a part is known by, at least
constexpr std::size_t kMostParts = 256;  ///< of one whole

std::int64_t row_of(const Tensor& tensor) {
  const std::int64_t all = element_count(tensor.shape);
  return tensor.shape.front() > 0 ? all / tensor.shape.front() : 0;
}

/// What parts of one whole have in common.
std::string form_of(const Tensor& tensor) {
  return fmt::format("{} {} {} {}", name(tensor.kind), name(tensor.dtype), tensor.shape.size(),
                     fmt::join(std::span(tensor.shape).subspan(1), ","));
}

class Joining {
 public:
  Joining(const Some& wholes, const Some& parts, const Numbers& numbers, const ContentOf& content)
      : wholes_(wholes), parts_(parts), numbers_(numbers), content_(content) {}

  std::vector<Joined> run() {
    std::set<std::string> forms;
    for (const std::size_t i : wholes_.indices) forms.insert(form_of(wholes_.tensors[i]));
    for (const std::size_t p : parts_.indices) {
      const Tensor& part = parts_.tensors[p];
      const std::string form = form_of(part);
      if (!forms.contains(form)) continue;
      if (const auto begins = first_of(part, 0)) known_[form + begins->hash].push_back(p);
    }
    std::vector<Joined> found;
    if (known_.empty()) return found;
    for (const std::size_t i : wholes_.indices) {
      auto made = one_behind_the_other(i);
      if (!made) made = by_heads(i);
      if (!made) continue;
      used_.insert(made->parts.begin(), made->parts.end());
      found.push_back(*std::move(made));
    }
    return found;
  }

 private:
  /// The elements that a part would be known by, if it began there.
  std::optional<Content> first_of(const Tensor& tensor, std::int64_t begin) const {
    const std::int64_t count = std::max(kFirst, row_of(tensor));
    if (element_count(tensor.shape) - begin < count) return std::nullopt;
    auto held = content_(tensor, begin, count);
    return held && !held->constant ? held : std::nullopt;
  }

  /// The part that `whole` goes on with at an element.
  std::optional<std::size_t> next_part(const Tensor& whole, std::int64_t begin,
                                       const std::vector<std::size_t>& taken) const {
    const auto goes_on = first_of(whole, begin);
    if (!goes_on) return std::nullopt;
    const auto alike = known_.find(form_of(whole) + goes_on->hash);
    if (alike == known_.end()) return std::nullopt;
    for (const std::size_t p : alike->second) {
      const std::int64_t count = element_count(parts_.tensors[p].shape);
      const bool free = !used_.contains(p) && std::ranges::find(taken, p) == taken.end();
      if (!free || count > element_count(whole.shape) - begin) continue;
      const auto part = content_(parts_.tensors[p], 0, count);
      const auto within = part ? content_(whole, begin, count) : std::nullopt;
      if (within && within->hash == part->hash) return p;
    }
    return std::nullopt;
  }

  std::optional<Joined> one_behind_the_other(std::size_t i) const {
    const Tensor& whole = wholes_.tensors[i];
    const std::int64_t row = row_of(whole);
    std::vector<std::size_t> parts;
    std::vector<std::int64_t> rows;
    for (std::int64_t at = 0; at < whole.shape.front();) {
      const auto next = next_part(whole, at * row, parts);
      if (!next || parts.size() == kMostParts) return std::nullopt;
      parts.push_back(*next);
      rows.push_back(parts_.tensors[*next].shape.front());
      at += rows.back();
    }
    if (parts.size() < 2) return std::nullopt;
    auto map = concat_boxes(whole.shape, 0, rows);
    if (!map) return std::nullopt;
    return Joined{i, std::move(parts), *std::move(map), "concat(0)"};
  }

  std::optional<Joined> by_heads(std::size_t i) const {
    constexpr std::string_view kOp = "qkv_interleave(heads,kv_heads,head_dim)";
    const Tensor& whole = wholes_.tensors[i];
    try {
      const MapOp op = parse_op(kOp);
      if (!unknown_numbers(op, numbers_).empty()) return std::nullopt;
      auto map = map_of_whole(op, numbers_, whole.shape, 3);
      if (!map) return std::nullopt;
      std::vector<std::size_t> parts;
      for (std::size_t k = 0; k < map->parts.size(); ++k) {
        const Tensor seen = part_of(*map, whole, k);
        const auto part = next_part(seen, 0, parts);
        if (!part || parts_.tensors[*part].shape != seen.shape) return std::nullopt;
        parts.push_back(*part);
      }
      return Joined{i, std::move(parts), *std::move(map), std::string(kOp)};
    } catch (const Error&) {  // too many boxes: it is no proof then
      return std::nullopt;
    }
  }

  Some wholes_, parts_;
  const Numbers& numbers_;
  const ContentOf& content_;
  std::map<std::string, std::vector<std::size_t>> known_;  ///< parts by form and first elements
  std::set<std::size_t> used_;
};

}  // namespace

std::vector<Joined> joined_content(const Some& wholes, const Some& parts, const Numbers& numbers,
                                   const ContentOf& content) {
  return Joining(wholes, parts, numbers, content).run();
}

}  // namespace ttcheck::align
