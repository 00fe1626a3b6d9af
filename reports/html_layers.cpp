// SPDX-License-Identifier: Apache-2.0
// A grid of the worst ratio: layers downwards, what a layer holds to the right; and, of several
// steps, layers against steps. Names without a number are a row of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/model/name_number.hpp"
#include "reports/escape.hpp"
#include "reports/html_parts.hpp"
#include "reports/svg.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kMostLayers = 160, kMostKinds = 64;
constexpr double kGridCell = 16, kGridLeft = 190, kGridTop = 150;
constexpr std::size_t kLongestHead = 28;

/// The worst ratio at each row and column, in order of first appearance.
class Grid {
 public:
  void add(const std::string& row, const std::string& column, double ratio) {
    const std::size_t r = place(row, rows_, row_of_), c = place(column, columns_, column_of_);
    if (r >= kMostLayers || c >= kMostKinds) return;
    double& cell = cells_.try_emplace({r, c}, 0).first->second;
    cell = std::isnan(ratio) ? ratio : std::max(cell, ratio);
  }

  bool is_drawn() const { return rows_.size() > 1 && !columns_.empty() && cells_.size() > 3; }

  std::string figure(std::string_view id, std::string_view title, std::string_view words) const {
    const std::size_t rows = std::min(rows_.size(), kMostLayers);
    const std::size_t columns = std::min(columns_.size(), kMostKinds);
    Svg svg(std::max(kGridLeft + static_cast<double>(columns) * kGridCell + 120, 420.0),
            kGridTop + static_cast<double>(rows) * kGridCell + 20);
    for (std::size_t c = 0; c < columns; ++c) {
      svg.slanted(kGridLeft + (static_cast<double>(c) + 0.6) * kGridCell, kGridTop - 6,
                  shortened(columns_[c]));
    }
    for (std::size_t r = 0; r < rows; ++r) {
      svg.text(kGridLeft - 8, kGridTop + (static_cast<double>(r) + 0.75) * kGridCell,
               shortened(rows_[r]), "end");
    }
    for (const auto& [at, ratio] : cells_) {
      svg.rect(kGridLeft + static_cast<double>(at.second) * kGridCell,
               kGridTop + static_cast<double>(at.first) * kGridCell, kGridCell - 2, kGridCell - 2,
               heat_class(ratio),
               fmt::format("{}, {}: {} of its limit", terminal_text(rows_[at.first]),
                           terminal_text(columns_[at.second]), short_number(ratio)));
    }
    std::string said(words);
    if (rows < rows_.size() || columns < columns_.size()) {
      said += fmt::format(" The first {} rows and {} columns of {} and {}.", rows, columns,
                          rows_.size(), columns_.size());
    }
    return svg.figure(id, title, said, heat_legend());
  }

 private:
  using Places = std::map<std::string, std::size_t, std::less<>>;

  static std::size_t place(const std::string& name, std::vector<std::string>& names, Places& of) {
    const auto [at, fresh] = of.try_emplace(name, names.size());
    if (fresh) names.push_back(name);
    return at->second;
  }

  static std::string shortened(const std::string& name) {
    std::string text = terminal_text(name);
    if (text.size() <= kLongestHead) return text;
    return ".." + text.substr(text.size() - kLongestHead + 2);
  }

  std::vector<std::string> rows_, columns_;
  Places row_of_, column_of_;
  std::map<std::pair<std::size_t, std::size_t>, double> cells_;
};

/// "layers.3" and what follows; names without a number stand for themselves.
std::pair<std::string, std::string> split(const Identity& identity) {
  const std::string phase =
      identity.phase == Phase::none ? "" : std::string(name(identity.phase)) + " ";
  const std::string_view layer = layer_of(identity.name);
  if (layer.empty()) return {"(no layer)", phase + identity.name};
  return {std::string(layer), phase + identity.name.substr(layer.size() + 1)};
}

}  // namespace

std::string html_layers(const Verdict& verdict) {
  Grid kinds, steps;
  for (const TensorResult& one : verdict.tensors) {
    if (one.outcome() == Outcome::not_comparable) continue;
    const auto [layer, rest] = split(one.identity);
    kinds.add(layer, rest, one.ratio);
    if (one.step && verdict.tally.steps.size() > 1) {
      steps.add(layer, fmt::format("step {}", *one.step), one.ratio);
    }
  }
  std::string text;
  if (kinds.is_drawn()) {
    text +=
        kinds.figure("layers", "Layers and what they hold",
                     "The worst of each layer's tensors of one kind, over its limit; empty where "
                     "nothing is listed: equal, or not there.");
  }
  if (steps.is_drawn()) {
    text += steps.figure("steps", "Layers and steps",
                         "The worst of each layer in each step, over its limit.");
  }
  return text;
}

}  // namespace ttcheck::reports
