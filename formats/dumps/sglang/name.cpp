// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/sglang/name.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ttcheck::formats {
namespace {

constexpr std::string_view kBetween = "___", kEnding = ".pt";

std::optional<std::int64_t> number_in(std::map<std::string, std::string>& tags,
                                      const std::string& tag) {
  const auto found = tags.extract(tag);
  if (found.empty()) return std::nullopt;
  const std::string& text = found.mapped();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size() && number >= 0;
  return whole ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string SglangName::identity() const {
  std::map<std::string, std::string> all = tags;
  all.emplace("name", name);
  std::string text;
  for (const auto& [tag, value] : all) text += (text.empty() ? "" : " ") + tag + "=" + value;
  return text;
}

std::optional<SglangName> parse_sglang_name(std::string_view file_name) {
  if (!file_name.ends_with(kEnding)) return std::nullopt;
  file_name.remove_suffix(kEnding.size());
  std::map<std::string, std::string> tags;
  std::string last;
  for (bool more = true; more;) {
    std::size_t at = file_name.find(kBetween);
    while (at != std::string_view::npos &&
           file_name.substr(at + kBetween.size()).starts_with('_')) {
      ++at;  // of more underscores the last three
    }
    const std::string_view part = file_name.substr(0, at);
    more = at != std::string_view::npos;
    if (more) file_name.remove_prefix(at + kBetween.size());
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      if (last.empty()) return std::nullopt;
      tags[last].append(kBetween).append(part);
      continue;
    }
    last = part.substr(0, equals);
    if (last.empty() || !tags.emplace(last, part.substr(equals + 1)).second) return std::nullopt;
  }
  SglangName made;
  const auto pass = number_in(tags, "forward_pass_id");
  const auto step = number_in(tags, "step");
  const auto rank = number_in(tags, "rank");
  const auto index = number_in(tags, "dump_index");
  const auto name = tags.extract("name");
  const bool one_step = pass.has_value() != step.has_value();
  if (!one_step || !rank || !index || name.empty() || name.mapped().empty()) return std::nullopt;
  if (*rank > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
  made.step = step ? *step : std::max<std::int64_t>(*pass - 1, 0);
  made.rank = static_cast<std::int32_t>(*rank);
  made.index = *index;
  made.name = name.mapped();
  if (const auto status = tags.find("recompute_status"); status != tags.end()) {
    made.recomputed = status->second == "recompute";
    if (made.recomputed || status->second == "disabled" || status->second == "original") {
      tags.erase(status);
    }
  }
  made.tags = std::move(tags);
  return made;
}

}  // namespace ttcheck::formats
