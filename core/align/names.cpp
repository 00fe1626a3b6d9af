// SPDX-License-Identifier: Apache-2.0
#include "core/align/names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace ttcheck::align {
namespace {

constexpr std::string_view kSavedWhole = "modules_to_save";
constexpr std::array kWrappers = {std::string_view("module"),
                                  std::string_view("_orig_mod"),
                                  std::string_view("_fsdp_wrapped_module"),
                                  std::string_view("_checkpoint_wrapped_module"),
                                  std::string_view("base_layer"),
                                  kSavedWhole};
constexpr std::string_view kMagnitude = "lora_magnitude_vector";
/// Modules and tables of an adapter, each of which holds one for every adapter by name
/// (`adapter_layer_names` of peft/tuners).
constexpr auto kAdapterParts = std::to_array<std::string_view>(
    {"lora_A", "lora_B", "lora_embedding_A", "lora_embedding_B", kMagnitude, "lora_E",
     "lora_ranknum", "ia3_l", "vera_lambda_b", "vera_lambda_d"});
constexpr std::string_view kPeft = "base_model.model.";

std::vector<std::string_view> parts_of(std::string_view name) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.' && name[i] != '/') continue;
    parts.push_back(name.substr(begin, i - begin));
    begin = i + 1;
  }
  return parts;
}

/// Levenshtein distance over `costs(i, j)` in [0, 1].
template <class Cost>
double edit_distance(std::size_t rows, std::size_t columns, Cost cost) {
  std::vector<double> line(columns + 1);
  for (std::size_t j = 0; j <= columns; ++j) line[j] = static_cast<double>(j);
  for (std::size_t i = 1; i <= rows; ++i) {
    double diagonal = line[0];
    line[0] = static_cast<double>(i);
    for (std::size_t j = 1; j <= columns; ++j) {
      const double change = diagonal + cost(i - 1, j - 1);
      diagonal = line[j];
      line[j] = std::min({line[j] + 1, line[j - 1] + 1, change});
    }
  }
  return line[columns];
}

double word_distance(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const double steps = edit_distance(
      a.size(), b.size(), [&](std::size_t i, std::size_t j) { return a[i] == b[j] ? 0.0 : 1.0; });
  return steps / static_cast<double>(std::max(a.size(), b.size()));
}

/// True for the name that PEFT gives an adapter within a model ("default"), which its checkpoints
/// leave out: it follows the module's own part (`lora_A.default.weight`).
bool names_adapter(std::string_view before, std::string_view part) {
  if (before == kSavedWhole) return true;
  const bool own = std::ranges::find(kAdapterParts, before) != kAdapterParts.end();
  return own && part != "weight" && part != "bias";
}

/// Without wrappers; `adapters`: and without the names of adapters.
std::string stripped(std::string_view name, bool adapters) {
  if (name.starts_with(kPeft)) name.remove_prefix(kPeft.size());
  std::string kept;
  std::string_view before;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= name.size(); ++i) {
    if (i < name.size() && name[i] != '.') continue;
    const std::string_view part = name.substr(begin, i - begin);
    const bool adapter = names_adapter(std::exchange(before, part), part) && adapters;
    begin = i + 1;
    if (adapter || (i < name.size() && std::ranges::find(kWrappers, part) != kWrappers.end())) {
      continue;
    }
    if (!kept.empty()) kept += '.';
    kept += part;
  }
  constexpr std::string_view kModuleToo = ".weight";  // since PEFT 0.12; not in checkpoints
  if (kept.ends_with(std::string(kMagnitude) + std::string(kModuleToo))) {
    kept.resize(kept.size() - kModuleToo.size());
  }
  return kept;
}

}  // namespace

std::string unwrapped(std::string_view name) { return stripped(name, false); }

std::string without_adapter(std::string_view name) { return stripped(name, true); }

std::string bare(std::string_view name) {
  std::string text = without_adapter(name);
  constexpr std::string_view kModel = "model.";
  if (text.starts_with(kModel)) text.erase(0, kModel.size());
  return text;
}

std::string language_part(std::string_view name) {
  std::string text = bare(name);
  constexpr std::string_view kLanguage = "language_model.";
  return text.starts_with(kLanguage) ? bare(text.substr(kLanguage.size())) : text;
}

std::string_view parameter_of_master(std::string_view name) {
  constexpr std::string_view kMaster = "@master";
  return name.ends_with(kMaster) ? name.substr(0, name.size() - kMaster.size())
                                 : std::string_view{};
}

double part_distance(std::string_view a, std::string_view b) {
  const auto left = parts_of(a);
  const auto right = parts_of(b);
  return edit_distance(left.size(), right.size(), [&](std::size_t i, std::size_t j) {
    return word_distance(left[i], right[j]);
  });
}

}  // namespace ttcheck::align
