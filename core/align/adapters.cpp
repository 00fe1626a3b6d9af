#include "core/align/adapters.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/align/names.hpp"

namespace ttcheck::align {
namespace {

/// Where the part of an adapter's own begins in a name; npos: it is none.
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

std::optional<Adapter> adapter_of(std::span<const Tensor> adapter,
                                  const std::vector<std::size_t>& alone,
                                  std::span<const Tensor> base,
                                  const std::vector<std::size_t>& base_alone) {
  Adapter found;
  if (alone.empty() || !is_adapter_name(adapter[alone.front()].identity.name)) return std::nullopt;
  std::unordered_map<std::string, const std::string*> names;
  for (const std::size_t i : base_alone) {
    names.emplace(bare(base[i].identity.name), &base[i].identity.name);
  }
  std::set<std::string> targets;
  for (const std::size_t i : alone) {
    const std::string& name = adapter[i].identity.name;
    const std::string target = bare(name.substr(0, own_part(name))) + ".weight";
    const auto named = names.find(target);
    if (!is_adapter_name(name) || named == names.end()) return std::nullopt;
    if (found.factors++ == 0) found.first = *named->second;
    targets.insert(target);
    found.rank = std::max(found.rank, rank_of(adapter[i]));
  }
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
