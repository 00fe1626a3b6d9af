// SPDX-License-Identifier: Apache-2.0
#include "formats/folder/shard_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "core/base/digits.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kOf = "-of-";
constexpr std::size_t kMaxMissing = 1000;

std::optional<std::int64_t> number(std::string_view digits) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string ShardName::with_number(std::int64_t other) const {
  return fmt::format("{}-{:0{}}-of-{:0{}}{}", before, other, digits, total, digits, after);
}

std::optional<ShardName> parse_shard_name(std::string_view name) {
  const std::size_t of = name.rfind(kOf);
  if (of == std::string_view::npos) return std::nullopt;
  std::size_t begin = of;
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  std::size_t end = of + kOf.size();
  while (end < name.size() && is_digit(name[end])) ++end;
  if (begin == 0 || name[begin - 1] != '-') return std::nullopt;
  const auto index = number(name.substr(begin, of - begin));
  const auto total = number(name.substr(of + kOf.size(), end - of - kOf.size()));
  if (!index || !total) return std::nullopt;
  return ShardName{std::string(name.substr(0, begin - 1)), std::string(name.substr(end)), *index,
                   *total, of - begin};
}

std::vector<std::string> missing_shards(const std::vector<std::string>& names) {
  const std::set<std::string, std::less<>> there(names.begin(), names.end());
  std::set<std::string> sets;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    const auto shard = parse_shard_name(name);
    if (!shard || !sets.insert(shard->with_number(0)).second) continue;
    const std::int64_t first = there.contains(shard->with_number(0)) ? 0 : 1;
    for (std::int64_t i = 0; i < shard->total && missing.size() < kMaxMissing; ++i) {
      const std::string expected = shard->with_number(first + i);
      if (!there.contains(expected)) missing.push_back(expected);
    }
  }
  return missing;
}

std::string stem_of(std::string_view file) {
  const std::size_t dot = file.rfind('.');
  return std::string(dot == std::string_view::npos || dot == 0 ? file : file.substr(0, dot));
}

bool promises_arrays(std::string_view name) {
  for (const std::string_view end :
       {".npy", ".npz", ".pt", ".pth", ".bin", ".safetensors", ".ckpt", ".h5", ".hdf5"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

}  // namespace ttcheck::formats
