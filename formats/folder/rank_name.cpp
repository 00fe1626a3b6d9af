// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/rank_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kMaxWorld = std::int64_t{1} << 16;
constexpr std::array<std::string_view, 3> kRoleWords = {"model", "optim",
                                                        "extra_state"};  // by RankRole
constexpr std::array<std::string_view, 4> kEndings = {".pt", ".pth", ".bin", ".ckpt"};
constexpr std::string_view kRank = "rank";
constexpr std::string_view kWorld = "_world_size_";

/// Takes a number off the front of `text`.
std::optional<std::int64_t> take_natural(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || number < 0 || number > kMaxWorld) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Takes `word` and the number behind it off the front of `text`.
std::optional<std::int64_t> take_natural(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  return take_natural(text);
}

void skip_one_of(std::string_view& text, std::string_view characters) {
  if (!text.empty() && characters.find(text.front()) != std::string_view::npos) {
    text.remove_prefix(1);
  }
}

/// The width of a number that has leading zeros; else 0.
std::size_t padded(std::string_view digits) {
  return digits.size() > 1 && digits.front() == '0' ? digits.size() : 0;
}

/// The world of `-of-4`, `_of_4`; 0 where there is none, nothing where there is something else.
std::optional<std::int64_t> take_world(std::string_view& text) {
  if (text.empty()) return 0;
  skip_one_of(text, "_-.");
  if (!text.starts_with("of")) return std::nullopt;
  text.remove_prefix(2);
  skip_one_of(text, "_-.");
  return take_natural(text);
}

std::optional<RankFileName> of_verl(std::string_view name) {
  for (std::size_t role = 0; role < kRoleWords.size(); ++role) {
    if (!name.starts_with(kRoleWords[role])) continue;
    std::string_view rest = name.substr(kRoleWords[role].size());
    const auto world = take_natural(rest, kWorld);
    if (!world || !rest.starts_with("_rank_")) continue;
    const std::size_t number = name.size() - rest.size() + 6;
    const auto rank = take_natural(rest, "_rank_");
    if (!rank || rest != ".pt" || *rank >= *world) continue;
    return RankFileName{static_cast<RankRole>(role),
                        std::string(name.substr(0, number)),
                        std::string(rest),
                        *world,
                        static_cast<std::int32_t>(*rank),
                        padded(name.substr(number, name.size() - rest.size() - number))};
  }
  return std::nullopt;
}

}  // namespace

std::string RankFileName::of(std::int32_t other) const {
  return fmt::format("{}{:0{}}{}", before, other, width, behind);
}

std::optional<RankFileName> rank_file_name(std::string_view name) {
  if (name.find(kWorld) != std::string_view::npos) return of_verl(name);
  const auto ending = std::ranges::find_if(kEndings, [&](auto one) { return name.ends_with(one); });
  if (ending == kEndings.end()) return std::nullopt;
  const std::string_view stem = name.substr(0, name.size() - ending->size());
  const std::size_t word = stem.rfind(kRank);
  if (word == std::string_view::npos) return std::nullopt;
  std::string_view rest = stem.substr(word + kRank.size());
  skip_one_of(rest, "_-.");
  const std::size_t number = stem.size() - rest.size();
  const auto rank = take_natural(rest);
  if (!rank) return std::nullopt;
  const std::string_view behind = name.substr(stem.size() - rest.size());
  const auto world = take_world(rest);
  if (!world || !rest.empty() || (*world > 0 && *rank >= *world)) return std::nullopt;
  std::string before(name.substr(0, number));
  const bool optimizer = before.find("optim") != std::string::npos;
  return RankFileName{optimizer ? RankRole::optimizer : RankRole::whole,
                      std::move(before),
                      std::string(behind),
                      *world,
                      static_cast<std::int32_t>(*rank),
                      padded(name.substr(number, name.size() - behind.size() - number))};
}

}  // namespace ttcheck::formats
