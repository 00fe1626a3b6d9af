#include "core/align/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/align/names.hpp"
#include "core/base/glob.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kLookAt = 1000;
constexpr std::size_t kMostCaptures = 14;        ///< {l} to {y}
constexpr std::size_t kMostSteps = 100'000'000;  ///< of edit distances in all, a second or less

/// A name as a map pattern: whole-number parts become captures, `*{}\` are escaped.
struct Pattern {
  std::string text;
  std::vector<std::string> numbers;
};

Pattern pattern_of(std::string_view name) {
  Pattern pattern;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.') continue;
    const std::string_view part = name.substr(begin, i - begin);
    if (begin > 0) pattern.text += '.';
    begin = i + 1;
    const bool number =
        !part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
    if (number && pattern.numbers.size() < kMostCaptures) {
      pattern.text += fmt::format("{{{}}}", static_cast<char>('l' + pattern.numbers.size()));
      pattern.numbers.emplace_back(part);
      continue;
    }
    pattern.text += literal_glob(part);
  }
  return pattern;
}

/// As a TOML literal string where it is plain ASCII, so that backslashes stay single. In a basic
/// one a report may escape what it does not show (`#` begins what a CI log obeys).
std::string toml_string(const std::string& text) {
  const bool plain = std::ranges::all_of(
      text, [](char c) { return c >= 0x20 && c < 0x7f && c != '\'' && c != '#'; });
  if (plain) return "'" + text + "'";
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

}  // namespace

std::vector<Neighbour> neighbours(std::span<const Tensor> reference,
                                  std::span<const Tensor> candidate, const Alignment& alignment,
                                  std::size_t most) {
  std::vector<Neighbour> all;
  const std::size_t rows = std::min(alignment.only_reference.size(), kLookAt);
  const std::size_t columns = std::min(alignment.only_candidate.size(), kLookAt);
  std::size_t steps = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::size_t i = alignment.only_reference[r];
    const std::string& left = reference[i].identity.name;
    for (std::size_t c = 0; c < columns; ++c) {
      const std::size_t j = alignment.only_candidate[c];
      const std::string& right = candidate[j].identity.name;
      if (reference[i].shape != candidate[j].shape) continue;
      if (reference[i].kind != candidate[j].kind) continue;
      if (left.size() > kMostSteps || right.size() > kMostSteps) continue;
      const std::size_t needed = left.size() * right.size();
      if (needed > kMostSteps - steps) continue;
      steps += needed;
      all.push_back({i, j, part_distance(left, right)});
    }
  }
  std::ranges::stable_sort(all, {}, &Neighbour::distance);
  std::vector<Neighbour> chosen;
  std::set<std::size_t> left, right;
  for (const Neighbour& one : all) {
    if (chosen.size() == most) break;
    if (left.contains(one.reference) || right.contains(one.candidate)) continue;
    left.insert(one.reference);
    right.insert(one.candidate);
    chosen.push_back(one);
  }
  return chosen;
}

std::string map_to_paste(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                         std::span<const Neighbour> neighbours) {
  std::string text;
  std::set<std::string> seen;
  for (const Neighbour& one : neighbours) {
    const std::string& from = reference[one.reference].identity.name;
    const std::string& to = candidate[one.candidate].identity.name;
    Pattern left = pattern_of(from);
    Pattern right = pattern_of(to);
    if (left.numbers != right.numbers) {  // captures would not agree: spell both names out
      left.text = literal_glob(from);
      right.text = literal_glob(to);
    }
    std::string entry = fmt::format("[[map]]\nreference = {}\ncandidate = {}\nop = \"same\"\n",
                                    toml_string(left.text), toml_string(right.text));
    if (seen.insert(entry).second) text += entry;
  }
  return text;
}

}  // namespace ttcheck::align
