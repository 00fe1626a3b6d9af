// SPDX-License-Identifier: Apache-2.0
#include "formats/dumps/msprobe/name.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/digits.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::string_view kForwardWord = "forward", kBackwardWord = "backward",
                           kDebugWord = "debug";
constexpr std::string_view kGradientsWord = "parameters_grad";
constexpr std::array<std::string_view, 4> kSlotWords = {"input", "kwargs", "output", "parameters"};

std::vector<std::string_view> dotted_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

bool is_direction(std::string_view part) { return part == kForwardWord || part == kBackwardWord; }

}  // namespace

std::optional<MsprobeOp> parse_msprobe_op(std::string_view key) {
  std::vector<std::string_view> parts = dotted_parts(key);
  const bool last = is_number(parts.back());
  if (parts.size() < (last ? 3U : 2U)) return std::nullopt;
  const std::string_view word = last ? parts[parts.size() - 2] : parts.back();
  MsprobeOp op;
  op.backward = word == kBackwardWord || word == kGradientsWord;
  op.gradients = word == kGradientsWord;
  op.debug = word == kDebugWord && !last;
  if (!is_direction(word) && !op.gradients && !op.debug) return std::nullopt;
  if (last) {
    parts.pop_back();
  } else if (!op.gradients && parts.size() > 2 && is_number(parts[parts.size() - 2])) {
    parts.erase(parts.end() - 2);
  }
  for (const std::string_view part : parts) op.base.append(op.base.empty() ? "" : ".").append(part);
  if (op.debug) op.backward = parts[parts.size() - 2].ends_with("_grad");
  return op;
}

std::optional<std::pair<std::string, std::string>> parse_msprobe_file(std::string_view file_name) {
  const std::size_t ending = file_name.rfind('.');
  if (ending == std::string_view::npos) return std::nullopt;
  const std::string_view stem = file_name.substr(0, ending);
  const auto split = [&](std::size_t end) {
    const bool whole = end == stem.size();
    return std::pair(std::string(stem.substr(0, end)),
                     whole ? std::string() : std::string(stem.substr(end + 1)));
  };
  std::size_t end = 0;  // of the parts so far
  std::string_view before, previous;
  for (const std::string_view part : dotted_parts(stem)) {
    if (end > 0) ++end;
    const bool called = is_direction(previous) || (is_number(previous) && is_direction(before));
    if (called && std::ranges::find(kSlotWords, part) != kSlotWords.end()) return split(end - 1);
    if (previous == kGradientsWord && !is_number(part)) return split(end - 1);
    end += part.size();
    if (previous == kGradientsWord && end < stem.size()) return split(end);
    if (part == kDebugWord && is_number(previous)) return split(end);
    before = previous;
    previous = part;
  }
  return std::nullopt;
}

std::pair<Phase, Kind> msprobe_meaning(const MsprobeOp& op, std::string_view slot) {
  if (op.gradients) return {Phase::backward, Kind::grad};
  if (op.debug) {
    return op.backward ? std::pair(Phase::backward, Kind::grad_output)
                       : std::pair(Phase::forward, Kind::output);
  }
  const std::string_view what = slot.substr(0, slot.find('.'));
  if (what == "parameters") return {Phase::state, Kind::weight};
  const bool input = what != "output";
  if (op.backward) return {Phase::backward, input ? Kind::grad_output : Kind::grad_input};
  return {Phase::forward, input ? Kind::input : Kind::output};
}

}  // namespace ttcheck::formats
