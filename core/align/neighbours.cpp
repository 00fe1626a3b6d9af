// SPDX-License-Identifier: Apache-2.0
#include "core/align/neighbours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/align/names.hpp"
#include "core/base/glob.hpp"

namespace ttcheck::align {
namespace {

constexpr std::size_t kLookAt = 1000;
constexpr std::size_t kMostCaptures = 14;        ///< {l} to {y}
constexpr double kLeastAlike = 0.75;             ///< of the parts of a name may be others, at most
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

/// The text as a TOML literal string where it is plain ASCII, so that backslashes stay single. In a
/// basic one a report may escape what it does not show (`#` begins what a CI log obeys).
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

/// All that are of one kind and shape, nearest first.
std::vector<Neighbour> of_one_shape(std::span<const Tensor> reference,
                                    std::span<const Tensor> candidate, const Alignment& alignment) {
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
      if (reference[i].shape != candidate[j].shape || left == right) continue;
      if (reference[i].kind != candidate[j].kind) continue;
      if (left.size() > kMostSteps || right.size() > kMostSteps) continue;
      const std::size_t needed = left.size() * right.size();
      if (needed > kMostSteps - steps) continue;
      steps += needed;
      all.push_back({i, j, part_distance(left, right)});
    }
  }
  std::ranges::stable_sort(all, {}, &Neighbour::distance);
  return all;
}

/// How often each tensor is a neighbour.
struct Degrees {
  std::map<std::size_t, std::int64_t> reference, candidate;

  explicit Degrees(std::span<const Neighbour> all) {
    for (const Neighbour& one : all) ++reference[one.reference], ++candidate[one.candidate];
  }
  bool alone(const Neighbour& one) const {
    return reference.at(one.reference) == 1 && candidate.at(one.candidate) == 1;
  }
};

/// Whether most of the parts of the longer name are the other's, too.
bool are_alike(const Neighbour& one, std::string_view left, std::string_view right) {
  const auto parts = [](std::string_view name) {
    return 1 + std::ranges::count_if(name, [](char c) { return c == '.' || c == '/'; });
  };
  return one.distance < kLeastAlike * static_cast<double>(std::max(parts(left), parts(right)));
}

/// What stands before all of `inner` in `outer`, if that is whole parts.
std::optional<std::string_view> prefix_of(std::string_view outer, std::string_view inner) {
  if (outer.size() <= inner.size() || !outer.ends_with(inner)) return std::nullopt;
  const std::string_view prefix = outer.substr(0, outer.size() - inner.size());
  return prefix.ends_with('.') ? std::optional(prefix) : std::nullopt;
}

std::string entry_of(const std::string& left, const std::string& right) {
  return fmt::format("[[map]]\nreference = {}\ncandidate = {}\nop = \"same\"\n", toml_string(left),
                     toml_string(right));
}

/// Entries for prefixes that several pairs differ by; those pairs are done.
std::string prefix_entries(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                           std::vector<Neighbour>& pairs) {
  using Prefix = std::pair<bool, std::string>;  ///< of the candidate, and what it is
  const auto prefix = [&](const Neighbour& one) -> std::optional<Prefix> {
    const std::string& left = reference[one.reference].identity.name;
    const std::string& right = candidate[one.candidate].identity.name;
    if (const auto there = prefix_of(right, left)) return Prefix{true, *there};
    if (const auto here = prefix_of(left, right)) return Prefix{false, *here};
    return std::nullopt;
  };
  std::map<Prefix, std::int64_t> counts;
  for (const Neighbour& one : pairs) {
    if (const auto found = prefix(one)) ++counts[*found];
  }
  std::string text;
  for (const auto& [found, count] : counts) {
    if (count < 2) continue;
    const std::string wrapped = literal_glob(found.second) + "**";
    text += found.first ? entry_of("**", wrapped) : entry_of(wrapped, "**");
  }
  std::erase_if(pairs, [&](const Neighbour& one) {
    const auto found = prefix(one);
    return found && counts[*found] > 1;
  });
  return text;
}

}  // namespace

Neighbours neighbours(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                      const Alignment& alignment) {
  const std::vector<Neighbour> all = of_one_shape(reference, candidate, alignment);
  const Degrees shapes(all);
  Neighbours made;
  std::set<std::size_t> left, right;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(
        begin, all.end(), [&](const Neighbour& one) { return one.distance != begin->distance; });
    std::vector<Neighbour> open;  // as near as one another
    std::copy_if(begin, end, std::back_inserter(open), [&](const Neighbour& one) {
      return !left.contains(one.reference) && !right.contains(one.candidate);
    });
    const Degrees near(open);
    for (const Neighbour& one : open) {
      left.insert(one.reference);
      right.insert(one.candidate);
      const bool sure = shapes.alone(one) ||
                        (near.alone(one) && are_alike(one, reference[one.reference].identity.name,
                                                      candidate[one.candidate].identity.name));
      if (sure) made.pairs.push_back(one);
    }
    begin = end;
  }
  made.unclear = std::ssize(shapes.reference) - std::ssize(made.pairs);
  return made;
}

std::string map_to_paste(std::span<const Tensor> reference, std::span<const Tensor> candidate,
                         std::span<const Neighbour> neighbours) {
  std::vector<Neighbour> rest(neighbours.begin(), neighbours.end());
  std::string text = prefix_entries(reference, candidate, rest);
  struct Entry {
    Pattern left, right;
    std::string from, to;
  };
  std::vector<Entry> entries;
  std::map<std::string, std::set<std::string>> there, here;  // what patterns stand beside each
  for (const Neighbour& one : rest) {
    const std::string& from = reference[one.reference].identity.name;
    const std::string& to = candidate[one.candidate].identity.name;
    Entry& entry = entries.emplace_back(
        Entry{pattern_of(from), pattern_of(to), literal_glob(from), literal_glob(to)});
    if (entry.left.numbers != entry.right.numbers) continue;
    there[entry.left.text].insert(entry.right.text);
    here[entry.right.text].insert(entry.left.text);
  }
  std::set<std::string> seen;
  for (const Entry& one : entries) {
    // Where captures would not agree, or mean two things, both names are spelled out.
    const bool folds = one.left.numbers == one.right.numbers && there[one.left.text].size() == 1 &&
                       here[one.right.text].size() == 1;
    std::string entry =
        folds ? entry_of(one.left.text, one.right.text) : entry_of(one.from, one.to);
    if (seen.insert(entry).second) text += entry;
  }
  return text;
}

}  // namespace ttcheck::align
