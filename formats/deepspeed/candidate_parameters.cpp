// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/candidate_parameters.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/checked.hpp"
#include "formats/deepspeed/experts.hpp"

namespace ttcheck::formats {
namespace {

/// `num_experts`, layer by layer, where it is stated.
std::vector<Value> experts_stated(const DeepspeedTag& tag) {
  for (const DeepspeedPart* part : tag.of(DeepspeedKind::model)) {
    auto counts = sequence(item_of(part->torch->root(), "num_experts"));
    if (counts && !counts->empty()) return *std::move(counts);
  }
  return {};
}

std::int64_t experts_of(const std::vector<Value>& stated, std::size_t layer) {
  if (stated.empty()) return 0;
  const std::int64_t count = stated[std::min(layer, stated.size() - 1)].integer().value_or(0);
  return count > kMostExperts ? 0 : count;
}

}  // namespace

bool may_be_of(const DeepspeedTag& tag, const DeepspeedWeight& weight, std::int64_t mp) {
  const DeepspeedFile& file = weight.part->file;
  return file.mp == (file.kind == DeepspeedKind::layer ? mp % tag.ranks.tp : mp);
}

std::vector<Candidate> dense_parameters(const DeepspeedTag& tag,
                                        const std::vector<DeepspeedWeight>& weights,
                                        std::int64_t mp) {
  std::vector<Candidate> found;
  std::set<std::tuple<const Source*, std::uint64_t, Shape>> seen;
  const auto known = tag.parameters.find(mp);
  for (const DeepspeedWeight& weight : weights) {
    if (parse_expert_name(weight.name) || !may_be_of(tag, weight, mp)) continue;
    if (weight.rank != kNoRank && weight.rank != tag.ranks.rank(0, mp)) continue;
    if (known != tag.parameters.end() && known->second.buffers.contains(weight.name)) continue;
    if (!seen.emplace(weight.source, weight.offset, weight.shape).second) continue;
    found.push_back({weight.name, weight.shape});
  }
  return found;
}

std::vector<Candidate> expert_parameters(const DeepspeedTag& tag,
                                         const std::vector<DeepspeedWeight>& weights,
                                         std::int64_t mp, std::int64_t ep_rank,
                                         DeepspeedBudget& budget, State& state) {
  std::vector<std::string> layers;
  std::map<std::string, std::map<std::int64_t, std::vector<Candidate>>> all;
  for (const DeepspeedWeight& weight : weights) {
    const auto expert = parse_expert_name(weight.name);
    if (!expert || !may_be_of(tag, weight, mp)) continue;
    const auto [layer, fresh] = all.try_emplace(expert->layer);
    if (fresh) layers.push_back(expert->layer);
    layer->second[expert->number].push_back({weight.name, weight.shape});
  }
  const std::vector<Value> stated = experts_stated(tag);
  std::vector<Candidate> own;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto& experts = all.at(layers[i]);
    const auto& like = std::ranges::max_element(experts, {}, [](const auto& expert) {
                         return expert.second.size();
                       })->second;
    const std::int64_t there = checked_add(experts.rbegin()->first, std::int64_t{1});
    const std::int64_t count = std::max(there, experts_of(stated, i));
    const std::int64_t share = ceil_div(count, tag.ranks.ep);
    const std::int64_t first = checked_mul(ep_rank, share);
    for (std::int64_t number = first; number < std::min(count, checked_add(first, share));
         ++number) {
      for (const Candidate& parameter : like) {
        std::string name = expert_name(parameter.name, number);
        if (!budget.take(name, state)) return own;
        own.push_back({std::move(name), parameter.shape});
      }
    }
  }
  return own;
}

}  // namespace ttcheck::formats
