#include "formats/deepspeed_experts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kExperts = ".deepspeed_experts.";

}  // namespace

std::optional<ExpertName> parse_expert_name(std::string_view name) {
  const std::size_t at = name.find(kExperts);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(at + kExperts.size());
  ExpertName expert;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), expert.number);
  if (error != std::errc{} || expert.number < 0) return std::nullopt;
  expert.layer = name.substr(0, at);
  expert.rest = digits.substr(static_cast<std::size_t>(end - digits.data()));
  return expert;
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
  const std::int64_t number = checked_add(checked_mul(ep_rank, count->second), expert->number);
  return fmt::format("{}{}{}{}", expert->layer, kExperts, number, expert->rest);
}

}  // namespace ttcheck::formats
