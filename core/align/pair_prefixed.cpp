// SPDX-License-Identifier: Apache-2.0
// The proof of a prefix. For each name of one side every end of it that begins behind a dot is
// looked up among the other side's names: what stands before it is then a prefix that would make
// this name meet. One pass counts, for each prefix, how many names it makes meet; a second one, for
// those prefixes that make enough of them meet, how many names it stands in front of.

#include "core/align/pair_prefixed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/align/names.hpp"
#include "core/base/name_map.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kMostParts = 8;        ///< of a prefix
constexpr std::size_t kMostPrefixes = 1000;  ///< that are looked at
constexpr std::int64_t kMany = 8;            ///< names that are a proof, most of both sides
constexpr std::size_t kSamples = 4;          ///< of tensors whose values are asked
constexpr std::int64_t kSampled = 4096;      ///< elements of each
constexpr std::size_t kTwice = static_cast<std::size_t>(-1);

/// Whether a part of a name says that it names an average of weights, or another copy beside them.
bool names_average(std::string_view name) {
  constexpr auto kWords = std::to_array<std::string_view>(
      {"ema", "avg", "average", "averaged", "shadow", "swa", "teacher", "target", "momentum"});
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = begin;
    while (end < name.size() && is_letter(name[end])) ++end;
    std::string word(name.substr(begin, end - begin));
    std::ranges::transform(word, word.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    if (std::ranges::find(kWords, word) != kWords.end()) return true;
    begin = end + 1;
  }
  return false;
}

/// What names are counted of: a checkpoint's weights with a shape, records of a trace.
bool counts(const Tensor& tensor) {
  const bool record = tensor.identity.phase != Phase::none;
  return record || (is_parameter(tensor.kind) && !tensor.shape.empty());
}

/// One side of the proof.
struct Side {
  std::span<const Tensor> tensors;
  std::span<const std::size_t> alone;

  std::int64_t counted_alone() const {
    return std::ranges::count_if(alone, [&](std::size_t i) { return counts(tensors[i]); });
  }
  std::int64_t counted() const { return std::ranges::count_if(tensors, counts); }
};

struct Pair {
  std::size_t wrapped = 0, plain = 0;

  bool operator==(const Pair&) const = default;
};

struct Found {
  std::vector<Pair> pairs;  ///< that meet behind the prefix
  std::int64_t clashes = 0, behind = 0;
};

/// Whether all of `some` are pairs of `all`, too; both are in the order of their side.
bool are_among(std::span<const Pair> some, std::span<const Pair> all) {
  std::size_t next = 0;
  for (const Pair& pair : all) {
    if (next < some.size() && some[next] == pair) ++next;
  }
  return next == some.size();
}

/// Calls `each` with every prefix that ends in a dot, and what follows it.
template <class Each>
void for_each_end(std::string_view name, const Each& each) {
  std::size_t parts = 0;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos && parts < kMostParts;
       dot = name.find('.', dot + 1), ++parts) {
    if (dot + 1 < name.size()) each(name.substr(0, dot + 1), name.substr(dot + 1));
  }
}

class Proof {
 public:
  Proof(const Side& wrapped, const Side& plain, const ContentOf& content)
      : wrapped_(wrapped), plain_(plain), content_(content) {}

  /// The prefix that is proved; empty: none is.
  std::string prefix() {
    if (wrapped_.alone.empty() || plain_.alone.empty()) return "";
    find_prefixes();
    count_behind();
    std::vector<std::string> proved;
    for (const auto& [prefix, found] : found_) {
      const bool told = std::ranges::any_of(proved, [&](const std::string& shorter) {
        return prefix.starts_with(shorter) && are_among(found.pairs, found_[shorter].pairs);
      });  // `model.` behind it may go by itself, of all names or of most
      if (!told && is_proved(found)) proved.push_back(prefix);
    }
    if (proved.size() > 1) proved = told_by_values(std::move(proved));
    if (proved.size() > 1) std::erase_if(proved, names_average);
    return proved.size() == 1 ? std::move(proved.front()) : "";
  }

 private:
  void find_prefixes() {
    NameMap<std::size_t> names;
    for (const std::size_t i : plain_.alone) {
      const Tensor& tensor = plain_.tensors[i];
      if (!counts(tensor)) continue;
      const auto [slot, fresh] = names.try_emplace(keyed(tensor, bare(tensor.identity.name)), i);
      if (!fresh) slot->second = kTwice;
    }
    for (const std::size_t j : wrapped_.alone) {
      const Tensor& tensor = wrapped_.tensors[j];
      if (!counts(tensor)) continue;
      for_each_end(without_adapter(tensor.identity.name),
                   [&](std::string_view prefix, std::string_view rest) {
                     const auto at = names.find(keyed(tensor, bare(rest)));
                     if (at == names.end() || at->second == kTwice) return;
                     add(std::string(prefix), {j, at->second});
                   });
    }
  }

  void add(const std::string& prefix, const Pair& pair) {
    if (found_.size() >= kMostPrefixes && !found_.contains(prefix)) return;
    Found& found = found_[prefix];
    const bool fits = wrapped_.tensors[pair.wrapped].shape == plain_.tensors[pair.plain].shape;
    if (fits) found.pairs.push_back(pair);
    if (!fits) ++found.clashes;
  }

  void count_behind() {
    for (const std::size_t j : wrapped_.alone) {
      if (!counts(wrapped_.tensors[j])) continue;
      for_each_end(without_adapter(wrapped_.tensors[j].identity.name),
                   [&](std::string_view prefix, std::string_view) {
                     const auto at = found_.find(prefix);
                     if (at != found_.end()) ++at->second.behind;
                   });
    }
  }

  /// Every name of the smaller side has its counterpart, and it is of what the side is.
  bool is_proved(const Found& found) const {
    const std::int64_t met = std::ssize(found.pairs);
    if (met == 0 || found.clashes > 0) return false;
    const std::int64_t alone = plain_.counted_alone();
    const std::int64_t there = wrapped_.counted_alone();
    const bool all_plain = met == alone;
    const bool all_wrapped = met == found.behind && found.behind == there;
    const bool mostly = met == found.behind && met >= kMany &&
                        2 * met >= std::max(plain_.counted(), wrapped_.counted());
    if (!all_plain && !all_wrapped && !mostly) return false;
    if (2 * met < std::min(plain_.counted(), wrapped_.counted())) return false;
    return met > 1 || has_equal_values(found);
  }

  /// Whether some that are not constant have the other side's values, and none of a few others.
  bool has_equal_values(const Found& found) const {
    std::size_t equal = 0;
    if (!content_) return false;
    for (const Pair& pair : found.pairs) {
      const Tensor& left = wrapped_.tensors[pair.wrapped];
      const Tensor& right = plain_.tensors[pair.plain];
      if (left.dtype != right.dtype) continue;
      const std::int64_t count = std::min(kSampled, element_count(left.shape));
      const auto here = content_(left, 0, count);
      if (!here || here->constant) continue;
      const auto other = content_(right, 0, count);
      if (!other || other->hash != here->hash) return false;
      if (++equal == kSamples) break;
    }
    return equal > 0;
  }

  /// Those behind which the values are the other side's: of several the first in the file. All of
  /// them where none is.
  std::vector<std::string> told_by_values(std::vector<std::string> proved) const {
    std::optional<std::string> first;
    std::size_t place = kTwice;
    for (const std::string& prefix : proved) {
      const Found& found = found_.find(prefix)->second;
      if (!has_equal_values(found)) continue;
      const bool average = first && names_average(prefix) && !names_average(*first);
      const bool better = !first || (names_average(*first) && !names_average(prefix)) ||
                          (!average && found.pairs.front().wrapped < place);
      if (better) first = prefix, place = found.pairs.front().wrapped;
    }
    return first ? std::vector{*std::move(first)} : std::move(proved);
  }

  Side wrapped_, plain_;
  const ContentOf& content_;
  std::map<std::string, Found, std::less<>> found_;
};

/// The key behind the prefix; none for a name that it does not stand in front of.
KeyOf behind(const std::string& prefix) {
  return [&prefix](const Tensor& tensor) {
    const std::string name = without_adapter(tensor.identity.name);
    return name.starts_with(prefix)
               ? keyed(tensor, bare(std::string_view(name).substr(prefix.size())))
               : std::string();
  };
}

}  // namespace

void pair_prefixed(Bench& bench, const ContentOf& content) {
  const Side left{bench.reference, bench.left}, right{bench.candidate, bench.right};
  const KeyOf plain = [](const Tensor& tensor) {
    return keyed(tensor, bare(tensor.identity.name));
  };
  if (const std::string prefix = Proof(right, left, content).prefix(); !prefix.empty()) {
    pair_by(bench, prefix_rule(prefix, "candidate"), plain, behind(prefix));
  } else if (const std::string own = Proof(left, right, content).prefix(); !own.empty()) {
    pair_by(bench, prefix_rule(own, "reference"), behind(own), plain);
  }
}

}  // namespace ttcheck::align
