// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/pipeline_stages.hpp"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/checked.hpp"
#include "formats/deepspeed/candidate_parameters.hpp"

namespace ttcheck::formats {
namespace {

/// What a layer's weight is called, and whose it is.
struct Place {
  std::string name;
  std::int32_t rank = kNoRank;
};

/// A layer and its twin hold the same values, as one module that is stored twice does.
bool is_copied(const StageDeal& deal, const WeightsByName& weights) {
  if (deal.twin.empty()) return false;
  for (const auto& [name, weight] : weights) {
    if (!name.starts_with(deal.twin)) continue;
    const auto tied = weights.find(deal.tied + name.substr(deal.twin.size()));
    try {
      if (tied != weights.end() && begin_alike(*tied->second, *weight)) return true;
    } catch (const Error&) {  // said where the tensor itself is read
    }
  }
  return false;
}

bool of_one_form(const StageDeal& a, const StageDeal& b) {
  return a.tied.empty() == b.tied.empty() && a.twin.empty() == b.twin.empty();
}

}  // namespace

std::optional<DeepspeedDealt> deal(const DeepspeedTag& tag,
                                   const std::vector<DeepspeedWeight>& weights,
                                   const std::vector<DeepspeedStage>& stages, std::int64_t tensor) {
  const WeightsByName by_name = weights_of(tag, weights, tensor);
  bool flat = false;
  std::vector<std::int64_t> sizes;
  for (const DeepspeedStage& stage : stages) {
    std::int64_t& size = sizes.emplace_back(0);
    for (const OptimizerGroup& group : stage.groups) {
      flat = flat || group.flat;
      size = checked_add(size, group.flat ? row_of_elements(*stage.part->torch, group.flat).shape[0]
                                          : std::ssize(group.ids));
    }
  }
  std::optional<DeepspeedDealt> best;
  for (StageDeal& one : deal_stages(dense_parameters(tag, weights, tensor), sizes,
                                    flat ? StageUnit::elements : StageUnit::parameters)) {
    DeepspeedDealt made{std::move(one), {}};
    for (std::size_t s = 0; s < stages.size(); ++s) {
      auto own = assign(*stages[s].part->torch, stages[s].groups, made.deal.stages[s], by_name);
      if (!own) break;
      made.doubtful += own->doubtful;
      made.ambiguous = made.ambiguous || own->ambiguous;
      made.stages.push_back(*std::move(own));
    }
    if (made.stages.size() < stages.size()) continue;
    made.copied = is_copied(made.deal, by_name);
    const auto rank = [](const DeepspeedDealt& dealt) {
      return std::pair(dealt.doubtful, !dealt.copied);
    };
    if (!best || rank(made) < rank(*best)) {
      best = std::move(made);
    } else if (made.copied == best->copied && made.doubtful == best->doubtful &&
               of_one_form(made.deal, best->deal)) {
      best->ambiguous = true;
    }
  }
  return best;
}

void place_layers(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                  const std::vector<DeepspeedStage>& stages, const DeepspeedDealt& dealt,
                  std::int64_t tensor, State& state) {
  std::map<std::string_view, std::pair<std::int32_t, std::int32_t>> ranks;  // first and last
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int32_t rank = tag.ranks.rank(0, stages[s].part->file.mp);
    for (const Candidate& parameter : dealt.deal.stages[s]) {
      ranks.try_emplace(parameter.name, rank, rank).first->second.second = rank;
    }
  }
  const std::string& twin = dealt.deal.twin;
  std::map<std::pair<const Source*, std::string_view>, Place> places;
  for (const DeepspeedWeight& weight : weights) {
    if (!may_be_of(tag, weight, tensor)) continue;
    const bool copy = !twin.empty() && weight.name.starts_with(twin);
    Place place{copy ? dealt.deal.tied + weight.name.substr(twin.size()) : weight.name, kNoRank};
    const auto known = ranks.find(place.name);
    if (known == ranks.end()) continue;
    place.rank = copy ? known->second.second : known->second.first;
    places.emplace(std::pair(weight.source, std::string_view(weight.name)), std::move(place));
  }
  for (Record& record : state.records) {
    const auto place = places.find({record.piece.source, record.identity.name});
    if (place == places.end() || record.piece.rank != kNoRank) continue;
    record.identity.name = place->second.name;
    record.piece.rank = place->second.rank;
  }
}

}  // namespace ttcheck::formats
