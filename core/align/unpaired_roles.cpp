// SPDX-License-Identifier: Apache-2.0
#include "core/align/unpaired_roles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/align/names.hpp"
#include "core/base/digits.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kMostParts = 8;  ///< of a prefix

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Whether one of the words between underscores is one of these.
template <std::size_t n>
bool has_word(std::string_view part, const std::array<std::string_view, n>& words) {
  for (std::size_t begin = 0; begin <= part.size();) {
    const std::size_t end = std::min(part.find('_', begin), part.size());
    if (is_one_of(words, part.substr(begin, end - begin))) return true;
    begin = end + 1;
  }
  return false;
}

bool is_generator_state(const Tensor& tensor, std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>({"rng", "random"});
  if (tensor.dtype != DType::u8 && !is_exact(tensor.dtype)) return false;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find('.'));
    if (has_word(part, kWords)) return true;
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return false;
}

/// Causal masks of GPT-2: `attn.bias`, one for all heads.
bool is_causal_mask(const Tensor& tensor, std::string_view name) {
  const Shape& shape = tensor.shape;
  return shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[2] == shape[3] &&
         name.ends_with("attn.bias");
}

/// Calls `each` with every key that a name may lie under, its dot included, and the rest.
template <class Each>
void for_each_key(std::string_view name, const Each& each) {
  std::size_t parts = 0;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos && parts < kMostParts;
       dot = name.find('.', dot + 1), ++parts) {
    each(name.substr(0, dot + 1), name.substr(dot + 1));
  }
}

/// Further copies of one side's weights, found by names and shapes.
class Copies {
 public:
  /// `met`: pairs so far, of which `own` is this side's tensor and `other` the other's.
  Copies(std::span<const Tensor> own, std::span<const Tensor> other,
         std::span<const PairIndex> pairs, std::size_t PairIndex::* here,
         std::size_t PairIndex::* there) {
    for (const PairIndex& pair : pairs) {
      const Tensor& tensor = own[pair.*here];
      if (!is_weight(tensor)) continue;
      const std::string name = without_adapter(tensor.identity.name);
      for_each_key(name, [&](std::string_view key, std::string_view) { taken_.emplace(key); });
      shapes_.push_back(&tensor.shape);
      names_.emplace(without_dots(bare(tensor.identity.name)), &tensor.shape);
      names_.emplace(without_dots(bare(other[pair.*there].identity.name)), &tensor.shape);
    }
  }

  /// The keys under which the other copies lie, of tensors that are alone.
  std::set<std::string> keys(std::span<const Tensor> own,
                             std::span<const std::size_t> alone) const {
    std::map<std::string, Group, std::less<>> groups;
    for (const std::size_t i : alone) {
      if (is_weight(own[i])) add(own[i], groups);
    }
    std::set<std::string> keys;
    for (const auto& [prefix, group] : groups) {
      const bool named = group.fitting == group.count;
      const bool listed = group.count > 1 && group.numbers == group.count && follows(group.shapes);
      const bool whole = 2 * group.count >= std::ssize(shapes_);
      if (whole && !taken_.contains(prefix) && (named || listed)) keys.insert(prefix);
    }
    return keys;
  }

 private:
  struct Group {
    std::int64_t count = 0, fitting = 0, numbers = 0;
    std::vector<const Shape*> shapes;
  };

  static bool is_weight(const Tensor& tensor) {
    return tensor.kind == Kind::weight && !tensor.shape.empty();
  }

  /// Some writers leave dots out of names that they keep as a module's own.
  static std::string without_dots(std::string_view name) {
    std::string kept;
    std::ranges::copy_if(name, std::back_inserter(kept),
                         [](char c) { return c != '.' && c != '_'; });
    return kept;
  }

  template <class Groups>
  void add(const Tensor& tensor, Groups& groups) const {
    const std::string name = without_adapter(tensor.identity.name);
    for_each_key(name, [&](std::string_view key, std::string_view rest) {
      Group& group = groups[std::string(key)];
      ++group.count;
      const auto at = names_.find(without_dots(bare(rest)));
      if (at != names_.end() && *at->second == tensor.shape) ++group.fitting;
      if (is_number(rest)) ++group.numbers;
      group.shapes.push_back(&tensor.shape);
    });
  }

  /// Whether the shapes are those of the weights, in their order, some left out.
  bool follows(std::span<const Shape* const> shapes) const {
    std::size_t at = 0;
    for (const Shape* const shape : shapes) {
      while (at < shapes_.size() && *shapes_[at] != *shape) ++at;
      if (at++ == shapes_.size()) return false;
    }
    return true;
  }

  std::vector<const Shape*> shapes_;  ///< of the weights that met
  NameMap<const Shape*> names_;
  NameSet taken_;  ///< keys that weights which met lie under
};

/// The outermost of the keys that a name begins with; empty: none.
std::string key_of(const Tensor& tensor, const std::set<std::string>& keys) {
  const std::string name = without_adapter(tensor.identity.name);
  for (std::size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
    const auto at = keys.find(name.substr(0, dot + 1));
    if (at != keys.end()) return *at;
  }
  return "";
}

/// Counts what is taken off a side by rule.
void take(std::vector<std::size_t>& alone, std::span<const Tensor> tensors, bool reference,
          const std::function<std::string(const Tensor&)>& rule_of, Alignment& done) {
  std::map<std::string, std::int64_t> counts;
  std::erase_if(alone, [&](std::size_t i) {
    const std::string rule = rule_of(tensors[i]);
    if (!rule.empty()) ++counts[rule];
    return !rule.empty();
  });
  for (const auto& [rule, count] : counts) {
    done.excluded_by.emplace_back(rule, count);
    done.beside.push_back({rule, reference ? count : 0, reference ? 0 : count});
  }
}

}  // namespace

std::string_view bookkeeping_rule(const Tensor& tensor) {
  constexpr auto kLosses = std::to_array<std::string_view>(
      {"loss", "losses", "metric", "metrics", "accuracy", "acc", "score", "perplexity", "ppl"});
  constexpr auto kCounters = std::to_array<std::string_view>(
      {"n_averaged", "num_batches_tracked", "num_updates", "global_step", "epoch", "iteration",
       "iter", "iter_num", "step", "steps", "initted", "decay"});
  constexpr auto kBuffers = std::to_array<std::string_view>(
      {"original_inv_freq", "position_ids", "token_type_ids", "masked_bias"});
  if (tensor.identity.phase != Phase::none || tensor.kind != Kind::weight) return "";
  const std::string_view name = tensor.identity.name;
  const std::string_view last = last_part(name);
  const bool number = tensor.shape.empty() || element_count(tensor.shape) == 1;
  if (number && name.starts_with("callbacks.")) return "callback";
  if (is_generator_state(tensor, name)) return "rng";
  if (is_one_of(kBuffers, last) || is_causal_mask(tensor, name)) return "buffer";
  if (number && is_one_of(kCounters, last)) return "counter";
  if (number && has_word(last, kLosses)) return "loss";
  return "";
}

void exclude_bookkeeping(Bench& bench) {
  const auto known = [](const Tensor& tensor) { return std::string(bookkeeping_rule(tensor)); };
  take(bench.left, bench.reference, true, known, bench.done);
  take(bench.right, bench.candidate, false, known, bench.done);
  if (bench.done.pairs.empty() || (bench.left.empty() && bench.right.empty())) return;
  const Copies left(bench.reference, bench.candidate, bench.done.pairs, &PairIndex::reference,
                    &PairIndex::candidate);
  const Copies right(bench.candidate, bench.reference, bench.done.pairs, &PairIndex::candidate,
                     &PairIndex::reference);
  const auto copies = [](std::set<std::string> keys) {
    return [keys = std::move(keys)](const Tensor& tensor) {
      const bool weight = tensor.kind == Kind::weight && tensor.identity.phase == Phase::none;
      const std::string key = weight ? key_of(tensor, keys) : std::string();
      return key.empty() ? key : fmt::format("copy {}", key.substr(0, key.size() - 1));
    };
  };
  take(bench.left, bench.reference, true, copies(left.keys(bench.reference, bench.left)),
       bench.done);
  take(bench.right, bench.candidate, false, copies(right.keys(bench.candidate, bench.right)),
       bench.done);
}

}  // namespace ttcheck::align
