// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/checked.hpp"
#include "formats/folder/step_name.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kExperts = ".deepspeed_experts.";
constexpr std::string_view kGroup = "ep_size_";
constexpr std::int64_t kMostRanks = std::int64_t{1} << 20;
constexpr std::size_t kMostGroups = 512;  ///< of an optimizer that are looked at

std::string renamed(const ExpertName& expert, std::int64_t number) {
  return fmt::format("{}{}{}{}", expert.layer, kExperts, number, expert.rest);
}

}  // namespace

std::optional<ExpertName> parse_expert_name(std::string_view name) {
  const std::size_t at = name.find(kExperts);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kExperts.size());
  ExpertName expert;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), expert.number);
  if (error != std::errc{} || expert.number < 0 || expert.number >= kMostExperts) {
    return std::nullopt;
  }
  expert.layer = name.substr(0, at);
  expert.rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  return expert;
}

std::string expert_name(const std::string& name, std::int64_t number) {
  return renamed(*parse_expert_name(name), number);
}

std::map<std::string, std::int64_t> count_experts(const std::vector<Candidate>& parameters) {
  std::map<std::string, std::int64_t> counts;
  for (const Candidate& parameter : parameters) {
    const auto expert = parse_expert_name(parameter.name);
    if (!expert) continue;
    std::int64_t& count = counts[expert->layer];
    count = std::max(count, checked_add(expert->number, std::int64_t{1}));
  }
  return counts;
}

std::string global_expert_name(const std::string& name, std::int64_t ep_rank,
                               const std::map<std::string, std::int64_t>& counts) {
  const auto expert = parse_expert_name(name);
  if (!expert) return name;
  const auto count = counts.find(expert->layer);
  if (count == counts.end()) return name;
  return renamed(*expert, checked_add(checked_mul(ep_rank, count->second), expert->number));
}

std::optional<std::int64_t> expert_ranks_of(Value optimizer) {
  const Value wrapped = item_of(optimizer, "optimizer_state_dict");
  const Value groups = item_of(wrapped ? wrapped : optimizer, "param_groups");
  std::optional<std::int64_t> ranks;
  std::size_t looked_at = 0;
  for (const Value& group : sequence(groups).value_or(std::vector<Value>())) {
    if (++looked_at > kMostGroups) break;
    if (!item_of(group, "moe").boolean().value_or(false)) continue;
    const std::string_view name = item_of(group, "name").text().value_or("");
    const auto count = name.starts_with(kGroup) ? trailing_number(name) : std::nullopt;
    ranks = std::max(ranks.value_or(1), std::clamp<std::int64_t>(count.value_or(1), 1, kMostRanks));
  }
  return ranks;
}

}  // namespace ttcheck::formats
