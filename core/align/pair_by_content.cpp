// SPDX-License-Identifier: Apache-2.0
#include "core/align/pair_by_content.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "core/align/joined_content.hpp"
#include "core/align/together.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::int64_t kBeginning = 4096;  ///< elements

bool may_meet(const Tensor& tensor) {
  return tensor.identity.phase == Phase::none && tensor.stored && tensor.holes.empty() &&
         tensor.reduce == Reduce::none && !tensor.undeclared && element_count(tensor.shape) > 0;
}

/// What must be the same beside the bytes.
std::string form_of(const Tensor& tensor) {
  return fmt::format("{} {} {}", name(tensor.kind), name(tensor.dtype),
                     fmt::join(tensor.shape, ","));
}

/// Tensors of both sides that may be the same.
struct Group {
  std::vector<std::size_t> left, right;

  bool both() const { return !left.empty() && !right.empty(); }
};

using Groups = std::map<std::string, Group>;

class ByContent {
 public:
  ByContent(Bench& bench, const ContentOf& content) : bench_(bench), content_(content) {}

  void run() {
    Groups forms;
    NameSet left, right;
    for (const std::size_t i : bench_.left) left.insert(bench_.reference[i].identity.name);
    for (const std::size_t j : bench_.right) {
      const Tensor& tensor = bench_.candidate[j];
      right.insert(tensor.identity.name);
      const bool apart = left.contains(tensor.identity.name);  // some rule held them apart
      if (may_meet(tensor) && !apart) forms[form_of(tensor)].right.push_back(j);
    }
    for (const std::size_t i : bench_.left) {
      const Tensor& tensor = bench_.reference[i];
      const bool apart = right.contains(tensor.identity.name);
      if (may_meet(tensor) && !apart) forms[form_of(tensor)].left.push_back(i);
    }
    for (const auto& [form, group] : forms) {
      for (const auto& [beginning, alike] : by_content(group, true)) {
        for (const auto& [all, same] : by_content(alike, false)) pair(same);
      }
    }
    if (!left_.empty()) {
      for (const Group& group : constant_) {
        if (group.left.size() == group.right.size()) pair(group);
      }
    }
    std::erase_if(bench_.left, [&](std::size_t i) { return left_.contains(i); });
    std::erase_if(bench_.right, [&](std::size_t j) { return right_.contains(j); });
  }

 private:
  /// The group by what its tensors hold, or begin with; constants are put aside.
  Groups by_content(const Group& group, bool beginning) {
    Groups groups;
    if (!group.both()) return groups;
    std::set<std::string> constant;
    const auto add = [&](const Tensor& tensor, std::size_t index, bool left) {
      const std::int64_t all = element_count(tensor.shape);
      const auto held = content_(tensor, 0, beginning ? std::min(all, kBeginning) : all);
      if (!held) return;
      if (held->constant && (all <= kBeginning || !beginning)) constant.insert(held->hash);
      Group& alike = groups[held->hash];
      (left ? alike.left : alike.right).push_back(index);
    };
    for (const std::size_t i : group.left) add(bench_.reference[i], i, true);
    for (const std::size_t j : group.right) add(bench_.candidate[j], j, false);
    for (const std::string& hash : constant) {
      constant_.push_back(std::move(groups[hash]));
      groups.erase(hash);
    }
    return groups;
  }

  void pair(const Group& group) {
    for (std::size_t n = 0; n < std::min(group.left.size(), group.right.size()); ++n) {
      bench_.done.pairs.push_back({group.left[n], group.right[n], std::string(kEqualBytes)});
      left_.insert(group.left[n]);
      right_.insert(group.right[n]);
    }
  }

  Bench& bench_;
  const ContentOf& content_;
  std::set<std::size_t> left_, right_;  ///< that met
  std::vector<Group> constant_;
};

/// Those that may be cut or joined: the number of elements of a row is theirs.
std::vector<std::size_t> rows_of(std::span<const Tensor> tensors,
                                 std::span<const std::size_t> alone) {
  std::vector<std::size_t> kept;
  std::ranges::copy_if(alone, std::back_inserter(kept), [&](std::size_t i) {
    return may_meet(tensors[i]) && !tensors[i].shape.empty() && bits(tensors[i].dtype) >= 8;
  });
  return kept;
}

void pair_wholes_of_reference(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                              const ContentOf& content) {
  const auto wholes = rows_of(bench.reference, bench.left);
  const auto parts = rows_of(bench.candidate, bench.right);
  for (const Joined& one :
       joined_content({bench.reference, wholes}, {bench.candidate, parts}, numbers, content)) {
    std::vector<const Tensor*> own;
    std::vector<std::string> names;
    for (const std::size_t j : one.parts) {
      own.push_back(&candidate[j]);
      names.push_back(candidate[j].identity.name);
    }
    Tensor seen = whole_of(one.map, own);
    seen.identity.name = together(names);
    std::erase(bench.left, one.whole);
    std::erase_if(bench.right, [&](std::size_t j) {
      return std::ranges::find(one.parts, j) != one.parts.end();
    });
    bench.done.pairs.push_back(
        {one.whole, candidate.size(), fmt::format("{}, {}", kEqualBytes, one.op)});
    candidate.push_back(std::move(seen));
    bench.candidate = candidate;
  }
}

void pair_wholes_of_candidate(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                              const ContentOf& content) {
  const auto wholes = rows_of(bench.candidate, bench.right);
  const auto parts = rows_of(bench.reference, bench.left);
  for (const Joined& one :
       joined_content({bench.candidate, wholes}, {bench.reference, parts}, numbers, content)) {
    for (std::size_t k = 0; k < one.parts.size(); ++k) {
      Tensor seen = part_of(one.map, candidate[one.whole], k);
      std::erase(bench.left, one.parts[k]);
      bench.done.pairs.push_back(
          {one.parts[k], candidate.size(), fmt::format("{}, {}", kEqualBytes, one.op)});
      candidate.push_back(std::move(seen));
    }
    std::erase(bench.right, one.whole);
    bench.candidate = candidate;
  }
}

}  // namespace

void pair_by_content(Bench& bench, std::vector<Tensor>& candidate, const Numbers& numbers,
                     const ContentOf& content) {
  if (!content || bench.left.empty() || bench.right.empty()) return;
  ByContent(bench, content).run();
  pair_wholes_of_reference(bench, candidate, numbers, content);
  pair_wholes_of_candidate(bench, candidate, numbers, content);
}

}  // namespace ttcheck::align
