// SPDX-License-Identifier: Apache-2.0
// Ranks of the candidate's mesh: the last axis to the right, the others downwards.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "reports/escape.hpp"
#include "reports/html_parts.hpp"
#include "reports/svg.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr double kRankCell = 34, kMeshLeft = 20, kMeshTop = 20;
constexpr std::int64_t kMostRanks = 4096, kMostAcross = 64;

/// On how many of the tensors that are listed each rank is wrong.
std::map<std::int64_t, std::int64_t> wrong_by_rank(const Verdict& verdict) {
  std::map<std::int64_t, std::int64_t> wrong;
  for (const TensorResult& one : verdict.tensors) {
    if (one.outcome() != Outcome::diverged) continue;
    for (const std::int32_t rank : one.wrong_ranks) ++wrong[rank];
  }
  return wrong;
}

std::string coordinates_of(const Mesh& mesh, std::int64_t rank) {
  std::string words;
  for (const auto& [axis, at] : mesh.coordinates(rank)) {
    words += fmt::format("{}{}={}", words.empty() ? "" : " ", terminal_text(axis), at);
  }
  return words;
}

std::string_view shade_of(std::int64_t wrong, std::int64_t most, bool first) {
  if (first) return "h5 first";
  if (wrong == 0) return "h0";
  return 2 * wrong > most ? "h4" : "h2";
}

std::string words_of(const Verdict& verdict, std::int64_t world,
                     const std::map<std::int64_t, std::int64_t>& wrong) {
  std::string words =
      fmt::format("{} ({}); ", counted(world, "rank"), mesh_words(verdict.candidate->mesh));
  if (wrong.empty()) return words + "none holds a tensor that is wrong.";
  words += fmt::format("{} {} wrong in some tensor", thousands(std::ssize(wrong)),
                       wrong.size() == 1 ? "is" : "are");
  if (verdict.first && !verdict.first->ranks.empty()) {
    words += fmt::format("; the first difference is on {}", folded(verdict.first->ranks));
  }
  return words + ".";
}

}  // namespace

std::string html_mesh(const Verdict& verdict) {
  if (!verdict.candidate) return "";
  const Mesh& mesh = verdict.candidate->mesh;
  const std::int64_t world = mesh.world_size();
  if (world < 2 || world > kMostRanks) return "";
  std::int64_t across = 1;
  for (const Axis& axis : mesh.axes) across = axis.size > 1 ? axis.size : across;
  across = std::clamp<std::int64_t>(across < 2 ? world : across, 1, kMostAcross);
  const auto wrong = wrong_by_rank(verdict);
  std::int64_t most = 0;
  for (const auto& [rank, count] : wrong) most = std::max(most, count);
  const std::int64_t down = (world + across - 1) / across;
  Svg svg(std::max(2 * kMeshLeft + static_cast<double>(across) * kRankCell, 200.0),
          2 * kMeshTop + static_cast<double>(down) * kRankCell);
  for (std::int64_t rank = 0; rank < world; ++rank) {
    const std::int64_t row = rank / across, column = rank % across;
    const double x = kMeshLeft + static_cast<double>(column) * kRankCell;
    const double y = kMeshTop + static_cast<double>(row) * kRankCell;
    const auto found = wrong.find(rank);
    const std::int64_t count = found == wrong.end() ? 0 : found->second;
    const bool first = verdict.first &&
                       std::ranges::find(verdict.first->ranks, rank) != verdict.first->ranks.end();
    svg.rect(x, y, kRankCell - 3, kRankCell - 3, shade_of(count, most, first),
             fmt::format("rank {} ({}): {}", rank, coordinates_of(mesh, rank),
                         count == 0 ? "right" : "wrong in " + counted(count, "tensor")));
    svg.text(x + kRankCell / 2 - 1, y + kRankCell / 2 + 3, fmt::format("{}", rank), "middle",
             first || count > 0);
  }
  return svg.figure("mesh", "Ranks of the candidate", words_of(verdict, world, wrong));
}

}  // namespace ttcheck::reports
