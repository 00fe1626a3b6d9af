#include "core/align/pair_from_one.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/name_map.hpp"
#include "core/model/name_number.hpp"
#include "core/model/name_rules.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kSampledPairs = 8;
constexpr std::int64_t kSampledElements = 4096;

/// The name with `by` added to its first number; empty: it has none.
std::string counted_on(const std::string& name, std::int64_t by) {
  const auto number = first_number(name);
  if (!number) return "";
  const std::size_t end = name.size() - number->second.size();
  const std::size_t dot = end == 0 ? std::string::npos : name.rfind('.', end - 1);
  const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
  return fmt::format("{}{}{}", std::string_view(name).substr(0, begin), number->first + by,
                     number->second);
}

/// One side's names with a number.
struct Numbered {
  std::span<const Tensor> tensors;
  NameMap<std::size_t> where;  ///< by name

  Numbered(std::span<const Tensor> all, std::span<const std::size_t> alone) : tensors(all) {
    for (const std::size_t i : alone) {
      const std::string& name = tensors[i].identity.name;
      if (tensors[i].identity.phase == Phase::none && first_number(name)) where.emplace(name, i);
    }
  }
};

/// Whether the names of `one` are those of `zero`, each counted on by one.
bool counts_from_one(const Numbered& zero, const Numbered& one) {
  if (zero.where.empty() || zero.where.size() != one.where.size()) return false;
  bool apart = false;
  for (const auto& [name, i] : zero.where) {
    const auto next = one.where.find(counted_on(name, 1));
    if (next == one.where.end()) return false;
    if (one.tensors[next->second].shape != zero.tensors[i].shape) return false;
    apart = apart || !one.where.contains(name);
  }
  return apart;
}

/// Whether values say so: some that are not constant are the next number's, none are not, and some
/// are not the same number's.
bool values_say_so(const Numbered& zero, const Numbered& one, std::span<const std::size_t> order,
                   const ContentOf& content) {
  std::size_t asked = 0;
  bool told = false, overlap = false;
  for (const std::size_t i : order) {
    const Tensor& tensor = zero.tensors[i];
    const auto same = one.where.find(tensor.identity.name);
    const auto next = one.where.find(counted_on(tensor.identity.name, 1));
    if (next == one.where.end()) continue;
    const auto read = [&](const Tensor& from) {
      return content(from, 0, std::min(kSampledElements, element_count(from.shape)));
    };
    const auto held = read(tensor);
    if (!held || held->constant) continue;
    const auto then = read(one.tensors[next->second]);
    if (!then || then->hash != held->hash) return false;
    if (same != one.where.end()) {
      overlap = true;
      const auto there = read(one.tensors[same->second]);
      told = told || (there && there->hash != held->hash);
    }
    if (++asked >= kSampledPairs && told) break;
  }
  return asked > 0 && (told || !overlap);
}

}  // namespace

void pair_from_one(Bench& bench, const ContentOf& content) {
  if (!content) return;
  const Numbered left(bench.reference, bench.left), right(bench.candidate, bench.right);
  const KeyOf as_is = [](const Tensor& tensor) {
    return first_number(tensor.identity.name) ? keyed(tensor, tensor.identity.name) : "";
  };
  const KeyOf next = [](const Tensor& tensor) {
    const std::string name = counted_on(tensor.identity.name, 1);
    return name.empty() ? name : keyed(tensor, name);
  };
  if (counts_from_one(left, right) && values_say_so(left, right, bench.left, content)) {
    pair_by(bench, kFromOne, next, as_is);
  } else if (counts_from_one(right, left) && values_say_so(right, left, bench.right, content)) {
    pair_by(bench, kFromOne, as_is, next);
  }
}

}  // namespace ttcheck::align
