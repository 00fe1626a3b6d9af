// SPDX-License-Identifier: Apache-2.0
#include "core/align/adapters.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "core/align/names.hpp"
#include "core/base/name_map.hpp"

namespace ttcheck::align {
namespace {

/// The place in a name at which the part of an adapter's own begins; npos: it is none.
std::size_t own_part(std::string_view name) {
  for (const std::string_view word : {".lora_", ".ia3_", ".vera_lambda"}) {
    const std::size_t at = name.find(word);
    if (at != std::string_view::npos) return at;
  }
  return std::string_view::npos;
}

/// True for the name of a factor or another tensor that only adapters have.
bool is_adapter_name(std::string_view name) { return own_part(name) != std::string_view::npos; }

/// The smaller extent of a factor A, which is the rank.
std::int64_t rank_of(const Tensor& tensor) {
  const bool factor = tensor.identity.name.find(".lora_A") != std::string::npos;
  return factor && tensor.shape.size() == 2 ? std::min(tensor.shape[0], tensor.shape[1]) : 0;
}

/// Names of weights without wrappers, with the names as they stand.
using Named = NameMap<const std::string*>;

Named named(std::span<const Tensor> tensors) {
  Named names;
  for (const Tensor& tensor : tensors) {
    names.emplace(bare(tensor.identity.name), &tensor.identity.name);
  }
  return names;
}

std::optional<Adapter> adapter_of(std::span<const Tensor> adapter,
                                  const std::vector<std::size_t>& alone,
                                  std::span<const Tensor> base,
                                  const std::vector<std::size_t>& base_alone) {
  const auto is_factor = [](const Tensor& tensor) { return is_adapter_name(tensor.identity.name); };
  if (base_alone.empty() || std::ranges::none_of(adapter, is_factor)) return std::nullopt;
  if (!std::ranges::all_of(alone, [&](std::size_t i) { return is_factor(adapter[i]); })) {
    return std::nullopt;
  }
  const Named own = named(adapter);
  const Named other = named(base);
  Adapter found;
  std::set<std::string> targets;
  for (const Tensor& tensor : adapter) {
    if (!is_factor(tensor)) continue;
    const std::string& name = tensor.identity.name;
    const std::string target = bare(name.substr(0, own_part(name))) + ".weight";
    const auto changed = other.find(target);
    if (changed == other.end()) return std::nullopt;
    if (!own.contains(target) && targets.empty()) found.first = *changed->second;
    if (!own.contains(target)) targets.insert(target);
    ++found.factors;
    found.rank = std::max(found.rank, rank_of(tensor));
  }
  if (targets.empty()) return std::nullopt;
  found.targets = std::ssize(targets);
  return found;
}

}  // namespace

std::optional<Adapter> find_adapter(std::span<const Tensor> reference,
                                    std::span<const Tensor> candidate, const Alignment& alignment) {
  auto found = adapter_of(candidate, alignment.only_candidate, reference, alignment.only_reference);
  if (found) return found;
  found = adapter_of(reference, alignment.only_reference, candidate, alignment.only_candidate);
  if (found) found->is_candidate = false;
  return found;
}

}  // namespace ttcheck::align
