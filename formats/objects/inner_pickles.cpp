// SPDX-License-Identifier: Apache-2.0
#include "formats/objects/inner_pickles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "formats/bytes/findings.hpp"
#include "formats/bytes/stream.hpp"
#include "formats/objects/globals.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::uint64_t kLeastBytes = 4;
constexpr std::size_t kLeastText = 12;
constexpr std::size_t kShownKey = 64;
constexpr std::size_t kFewKeys = 8;  ///< compared with one another rather than sorted

/// The start of a pickle of protocol 2 and up, or of one that begins with a name or a mark.
bool may_start(std::byte first, std::byte second) {
  const auto byte = std::to_integer<unsigned char>(first);
  return byte == 'c' || byte == '(' || (byte == 0x80 && std::to_integer<int>(second) <= 5);
}

/// PROTO and a version from 2 to 5, in base64 (three sextets decide) or in hex.
bool is_encoded(std::string_view text) {
  if (text.size() < kLeastText) return false;
  const auto all_of = [&](std::string_view more) {
    return std::ranges::all_of(text, [&](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || more.find(c) != more.npos;
    });
  };
  constexpr std::string_view kRest = "ABCDEFGHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz+/=-_\n\r";
  if (text.starts_with("gA") && text[2] >= 'I' && text[2] <= 'X') return all_of(kRest);
  const bool proto = text.starts_with("800") && text[3] >= '2' && text[3] <= '5';
  return proto && text.size() % 2 == 0 && all_of("ABCDEF");
}

/// False when no two of a few are equal; of many it is not known.
template <class Key>
bool may_repeat(const std::vector<Key>& keys) {
  if (keys.size() > kFewKeys) return true;
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (std::find(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(i), keys[i]) !=
        keys.begin() + static_cast<std::ptrdiff_t>(i)) {
      return true;
    }
  }
  return false;
}

/// A key that occurs twice among the texts and integers in `keys`.
std::optional<std::string> repeated(std::vector<std::string_view>& texts,
                                    std::vector<std::int64_t>& numbers) {
  if (!may_repeat(texts) && !may_repeat(numbers)) return std::nullopt;
  std::ranges::sort(texts);
  std::ranges::sort(numbers);
  if (const auto text = std::ranges::adjacent_find(texts); text != texts.end()) {
    return std::string(text->substr(0, kShownKey));
  }
  if (const auto number = std::ranges::adjacent_find(numbers); number != numbers.end()) {
    return fmt::format("{}", *number);
  }
  return std::nullopt;
}

}  // namespace

std::vector<InnerPickle> inner_pickles(const Pickle& pickle) {
  std::vector<InnerPickle> found;
  for (NodeId id = 0; id < pickle.node_count(); ++id) {
    if (pickle.at(id).kind() != NodeKind::bytes) continue;
    const auto range = pickle.at(id).bytes();
    if (!range || range->size < kLeastBytes) continue;
    std::array<std::byte, 2> start{};
    pickle.source().read(range->offset, start);
    if (!may_start(start[0], start[1])) continue;
    Stream in(pickle.source(), range->offset, range->offset + range->size);
    Pickle inner = read_pickle(in);
    const bool acts = std::ranges::any_of(inner.globals(), [](const Global& global) {
      return classify(global) == GlobalClass::code;
    });
    if (acts || (!inner.fault() && in.done())) found.push_back({std::move(inner), *range});
  }
  return found;
}

void note_encoded_pickles(const Pickle& pickle, std::string_view what,
                          std::vector<Finding>& findings) {
  std::optional<Value> first;
  std::size_t count = 0;
  for (NodeId id = 0; id < pickle.node_count(); ++id) {
    const Value value = pickle.at(id);
    if (!value.is(NodeKind::text) || !is_encoded(*value.text())) continue;
    if (!first) first = value;
    ++count;
  }
  if (!first) return;
  findings.push_back(remark(
      first->where(),
      fmt::format("{} holds {} texts that look like an encoded pickle (not decoded)", what, count),
      Code::unsafe_pickle));
}

void note_repeated_keys(const Pickle& pickle, std::string_view what,
                        std::vector<Finding>& findings) {
  std::vector<std::string_view> texts;
  std::vector<std::int64_t> numbers;
  std::optional<Finding> first;
  std::size_t dicts = 0;
  for (NodeId id = 0; id < pickle.node_count(); ++id) {
    const Value value = pickle.at(id);
    const NodeKind kind = value.kind();
    if (kind != NodeKind::dict && kind != NodeKind::object) continue;
    const std::span<const NodeId> pairs =
        kind == NodeKind::dict ? value.children() : value.entries();
    if (pairs.size() < 4) continue;
    texts.clear();
    numbers.clear();
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      const Value key = pickle.at(pairs[i]);
      if (key.is(NodeKind::text)) texts.push_back(*key.text());
      if (const auto number = key.integer()) numbers.push_back(*number);
    }
    if (texts.size() < 2 && numbers.size() < 2) continue;
    const auto key = repeated(texts, numbers);
    if (!key) continue;
    ++dicts;
    if (first) continue;
    first = odd(value.where(), fmt::format("{}: a dict gets the key '{}' twice; the last value is "
                                           "used",
                                           what, *key));
  }
  if (!first) return;
  if (dicts > 1) first->message += fmt::format(" ({} dicts are like this)", dicts);
  findings.push_back(std::move(*first));
}

}  // namespace ttcheck::formats
