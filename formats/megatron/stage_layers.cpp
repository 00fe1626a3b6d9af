// SPDX-License-Identifier: Apache-2.0
#include "formats/megatron/stage_layers.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "core/base/checked.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::size_t kLongestLayout = std::size_t{1} << 20;  // letters, once written out
constexpr std::int64_t kMaxChunks = std::int64_t{1} << 20;

std::optional<std::size_t> number(std::string_view text, std::size_t& at) {
  std::size_t value = 0;
  const std::size_t begin = at;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = value * 10 + static_cast<std::size_t>(text[at] - '0');
    if (value > kLongestLayout) return std::nullopt;
  }
  if (at == begin) return std::nullopt;
  return value;
}

/// The layout with what is repeated written out: groups, `(...)*n`, or letters, `x*n`.
std::optional<std::string> written_out(std::string_view layout, bool groups) {
  std::string out;
  for (std::size_t i = 0; i < layout.size();) {
    std::string_view unit = layout.substr(i, 1);
    std::size_t next = i + 1;
    const bool group = groups && unit == "(";
    if (group) {
      const std::size_t close = layout.find(')', i);
      if (close == std::string_view::npos) return std::nullopt;
      unit = layout.substr(i + 1, close - i - 1);
      next = close + 1;
    }
    std::size_t times = 1;
    if (group == groups && next < layout.size() && layout[next] == '*') {
      const auto count = number(layout, ++next);
      if (!count) return std::nullopt;
      times = *count;
    }
    if (times != 0 && unit.size() > (kLongestLayout - out.size()) / times) return std::nullopt;
    for (std::size_t k = 0; k < times; ++k) out += unit;
    i = next;
  }
  return out;
}

/// Groups do not nest, but may hold repeated letters; commas mean nothing.
std::optional<std::string> letters_of(std::string_view layout) {
  std::string text(layout);
  std::erase(text, ',');
  const auto letters = written_out(text, true);
  return letters ? written_out(*letters, false) : std::nullopt;
}

/// Stages of the same length, but for the first and the last ones where these are given.
std::vector<std::int64_t> uneven(const MegatronArgs& args) {
  const std::int64_t first = args.first_layers.value_or(0);
  const std::int64_t last = args.last_layers.value_or(0);
  const std::int64_t stages = args.pp - (args.first_layers ? 1 : 0) - (args.last_layers ? 1 : 0);
  const std::int64_t rest = args.layers - first - last;
  if (stages < 0 || rest < 0 || (stages == 0 ? rest != 0 : rest % stages != 0)) return {};
  std::vector<std::int64_t> lengths;
  for (std::int64_t stage = 0; stage < args.pp; ++stage) {
    const bool given_first = stage == 0 && args.first_layers;
    const bool given_last = stage == args.pp - 1 && args.last_layers && !given_first;
    const std::int64_t of_stage = given_first ? first : given_last ? last : rest / stages;
    if (of_stage % args.vpp != 0) return {};
    lengths.push_back(of_stage / args.vpp);
  }
  std::vector<std::int64_t> chunks;
  for (std::int64_t v = 0; v < args.vpp; ++v)
    chunks.insert(chunks.end(), lengths.begin(), lengths.end());
  return chunks;
}

std::vector<std::int64_t> even(const MegatronArgs& args, std::int64_t chunks) {
  const std::int64_t slots =
      checked_add(args.layers, std::int64_t{args.embedding_counts} + args.loss_counts);
  if (slots % chunks != 0 || slots < chunks) return {};
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(chunks), slots / chunks);
  if (args.embedding_counts) --lengths.front();
  if (args.loss_counts) --lengths.back();
  return lengths;
}

}  // namespace

std::vector<std::int64_t> layers_of_layout(std::string_view layout) {
  const auto letters = letters_of(layout);
  if (!letters) return {};
  std::vector<std::int64_t> stages(1, 0);
  for (const char letter : *letters) {
    if (letter == '|') {
      stages.push_back(0);
    } else if (letter == 't') {
      ++stages.back();
    } else if (std::string_view("EmL ").find(letter) == std::string_view::npos) {
      return {};
    }
  }
  return stages;
}

std::size_t predicting_chunk(const MegatronArgs& args) {
  const auto letters = letters_of(args.stage_layout);
  const std::size_t at = letters ? letters->find('m') : std::string::npos;
  if (at == std::string::npos) return static_cast<std::size_t>(args.pp * args.vpp - 1);
  return static_cast<std::size_t>(
      std::ranges::count(std::string_view(*letters).substr(0, at), '|'));
}

std::vector<std::int64_t> layers_by_chunk(const MegatronArgs& args) {
  const std::int64_t chunks = checked_mul(args.pp, args.vpp);
  if (args.layers <= 0 || chunks > kMaxChunks) return {};
  std::vector<std::int64_t> lengths;
  if (!args.stage_layout.empty()) {
    lengths = layers_of_layout(args.stage_layout);
  } else if (args.first_layers || args.last_layers) {
    lengths = uneven(args);
  } else {
    lengths = even(args, chunks);
  }
  const std::int64_t sum = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  if (std::ssize(lengths) != chunks || sum != args.layers) return {};
  return lengths;
}

}  // namespace ttcheck::formats
