// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/base/utf8.hpp"
#include "core/limits/limits_file.hpp"

namespace ttcheck::limits {
namespace {

constexpr std::string_view kHead =
    "# How far correct runs are apart, measured by ttcheck; made to be read and edited\n"
    "# (ttcheck-limits.7). A tensor is noise up to the larger of m x d and m0 x eps. Of several\n"
    "# entries that match a tensor the last counts; match may be a glob, and may name an op.\n";

/// A basic string of TOML. Bytes that are no text become U+FFFD: only names in [calibrated] may
/// hold some, `match` says them by wildcards.
std::string quoted(std::string_view bytes) {
  std::string text = "\"";
  while (!bytes.empty()) {
    const auto point = first_code_point(bytes);
    const std::size_t length = point ? point->length : 1;
    if (!point) {
      text += "\\uFFFD";
    } else if (point->value == '"' || point->value == '\\') {
      text += '\\';
      text += bytes.front();
    } else if (point->value < 0x20 || (point->value >= 0x7F && point->value < 0xA0) ||
               point->value == 0x2028 || point->value == 0x2029 || point->value == 0x202E) {
      text += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(point->value));
    } else {
      text += bytes.substr(0, length);
    }
    bytes.remove_prefix(length);
  }
  return text + "\"";
}

std::string list(const std::vector<std::string>& words) {
  std::string text = "[";
  for (const std::string& word : words) text += (text.size() > 1 ? ", " : "") + quoted(word);
  return text + "]";
}

/// The shortest that reads back as the same; TOML wants a dot or an exponent in none of ours.
std::string number(double value) { return fmt::format("{}", value); }

std::string origin_text(const LimitOrigin& origin) {
  std::string text = "\n[calibrated]\n";
  text += "tool = " + quoted(origin.tool) + "\n";
  text += "reference = " + quoted(origin.reference) + "\n";
  text += "runs = " + list(origin.runs) + "\n";
  text += "perturbations = " + list(origin.perturbations) + "\n";
  return text + fmt::format("comparisons = {}\n", origin.comparisons);
}

std::string states_text(const MeasuredStates& states) {
  std::string text = "\n[states]\nweights = " + number(states.weights) + "\n";
  if (states.least) text += "least = " + number(*states.least) + "\n";
  if (states.moments) text += "moments = " + number(*states.moments) + "\n";
  if (!states.biases.empty()) text += "\n[states.biases]\n";
  for (const auto& [part, apart] : states.biases) {
    text += quoted(part) + " = " + number(apart) + "\n";
  }
  return text;
}

std::string entry_text(const LimitEntry& entry) {
  std::string text = "\n[[tensor]]\nmatch = " + quoted(entry.match) + "\n";
  if (entry.phase != Phase::none) text += fmt::format("phase = \"{}\"\n", name(entry.phase));
  text += "d = " + number(entry.d) + "\n";
  if (entry.row > 0) text += "row = " + number(entry.row) + "\n";
  if (entry.outlier > 0) text += "outlier = " + number(entry.outlier) + "\n";
  if (entry.eps) text += "eps = " + number(*entry.eps) + "\n";
  if (entry.samples > 0) text += fmt::format("samples = {}\n", entry.samples);
  if (entry.p50) text += "p50 = " + number(*entry.p50) + "\n";
  if (entry.p90) text += "p90 = " + number(*entry.p90) + "\n";
  return text;
}

}  // namespace

std::string print_limits(const LimitsFile& limits) {
  std::string text(kHead);
  text += fmt::format("limits = 1\nm = {}\nm0 = {}\n", number(limits.m), number(limits.m0));
  text += origin_text(limits.origin);
  if (limits.states) text += states_text(*limits.states);
  for (const LimitEntry& entry : limits.entries) text += entry_text(entry);
  return text;
}

}  // namespace ttcheck::limits
