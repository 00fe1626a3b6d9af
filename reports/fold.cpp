// SPDX-License-Identifier: Apache-2.0
#include "reports/fold.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <string_view>

#include "core/base/index_table.hpp"
#include "core/base/name_map.hpp"
#include "reports/escape.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

/// A numbered part of a name: the 3 of "layers.3.mlp.weight".
struct Number {
  std::size_t begin = 0, end = 0;
  std::int64_t value = 0;
};

bool ends_part(char letter) { return letter == '.' || letter == '/'; }

/// Numbers of up to 18 digits without leading zeros, alone between dots or slashes.
std::vector<Number> numbers_in(std::string_view name) {
  std::vector<Number> numbers;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9') ++end;
    const bool alone = end > at && end - at <= 18 && (at == 0 || ends_part(name[at - 1])) &&
                       (end == name.size() || ends_part(name[end])) &&
                       (name[at] != '0' || end == at + 1);
    if (alone) {
      Number& number = numbers.emplace_back(at, end);
      std::from_chars(name.data() + at, name.data() + end, number.value);
    }
    at = std::max(end, at + 1);
  }
  return numbers;
}

/// The name with 0 for each number, the same for all names that are alike. No name of another
/// pattern makes the same one, as a 0 that stands alone is a number, too.
std::string pattern_of(std::string_view name) {
  std::string pattern;
  std::size_t at = 0;
  for (const Number& number : numbers_in(name)) {
    pattern.append(name, at, number.begin - at).append("0");
    at = number.end;
  }
  return pattern.append(name, at);
}

/// The start of a long list of numbers.
std::string shortened(std::string list) {
  constexpr std::size_t kLongest = 40, kStart = 24;
  if (list.size() <= kLongest) return list;
  list.resize(list.rfind(',', kStart) == std::string::npos ? kStart : list.rfind(',', kStart));
  return list + ",..";
}

bool one_group(const TensorResult& a, const TensorResult& b) {
  return a.outcome() == b.outcome() && a.kind == b.kind && a.dtype == b.dtype &&
         a.candidate_dtype == b.candidate_dtype && a.identity.phase == b.identity.phase;
}

}  // namespace

std::vector<Group> fold(const std::vector<const TensorResult*>& results) {
  IndexTable table;
  std::vector<Group> groups;
  std::vector<std::string> patterns;  // of the groups
  for (const TensorResult* result : results) {
    std::string pattern = pattern_of(result->identity.name);
    const auto found = table.find_or_add(
        NameHash{}(pattern), static_cast<std::uint32_t>(groups.size()), [&](std::uint32_t other) {
          return patterns[other] == pattern && one_group(*groups[other].worst, *result);
        });
    if (!found) {
      groups.push_back({result, {}});
      patterns.push_back(std::move(pattern));
    }
    Group& group = found ? groups[*found] : groups.back();
    group.results.push_back(result);
    if (result->ratio > group.worst->ratio) group.worst = result;
  }
  return groups;
}

std::string name_of(const Group& group) {
  const std::string_view worst = group.worst->identity.name;
  const std::vector<Number> places = numbers_in(worst);
  std::vector<std::set<std::int64_t>> values(places.size());
  for (const TensorResult* result : group.results) {
    const std::vector<Number> numbers = numbers_in(result->identity.name);
    for (std::size_t i = 0; i < values.size(); ++i) values[i].insert(numbers[i].value);
  }
  const Phase phase = group.worst->identity.phase;
  std::string name = phase == Phase::none ? "" : std::string(ttcheck::name(phase)) + " ";
  std::size_t at = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    name += terminal_text(worst.substr(at, places[i].begin - at));
    const std::string list = shortened(folded(std::vector(values[i].begin(), values[i].end())));
    name += values[i].size() == 1 ? list : "{" + list + "}";
    at = places[i].end;
  }
  return name + terminal_text(worst.substr(at));
}

std::string dtypes_of(const TensorResult& result) {
  std::string text(ttcheck::name(result.dtype));
  if (result.candidate_dtype != result.dtype) {
    text += fmt::format("/{}", ttcheck::name(result.candidate_dtype));
  }
  return text;
}

std::vector<std::int64_t> steps_of(const Group& group) {
  std::set<std::int64_t> steps;
  for (const TensorResult* result : group.results) {
    if (result->step) steps.insert(*result->step);
  }
  return {steps.begin(), steps.end()};
}

std::vector<std::int32_t> wrong_ranks_of(const Group& group) {
  std::set<std::int32_t> ranks;
  for (const TensorResult* result : group.results) {
    ranks.insert(result->wrong_ranks.begin(), result->wrong_ranks.end());
  }
  return {ranks.begin(), ranks.end()};
}

}  // namespace ttcheck::reports
