// SPDX-License-Identifier: Apache-2.0
// The tensor that `show` was asked for, or of the first difference: blocks of rows and columns by
// their error beside what is usual, and the rows and columns as strips along their sides.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "reports/first.hpp"
#include "reports/html_parts.hpp"
#include "reports/shown_axes.hpp"
#include "reports/svg.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr double kHeatWidth = 640, kHeatBlock = 18, kHeatLeft = 60, kHeatTop = 30;

/// A shade by the share of the largest: each of four is a tenth of the next.
std::string_view shade_of(double size, double largest) {
  if (std::isinf(size)) return "h5";
  if (!(size > 0) || !(largest > 0)) return "h0";
  const double share = size / largest;
  if (share > 0.5) return "h5";
  if (share > 0.1) return "h4";
  if (share > 0.01) return "h3";
  return share > 0.001 ? "h2" : "h1";
}

const Profile* profile_of(const Verdict& verdict) {
  if (verdict.shown && verdict.shown->profile) return &*verdict.shown->profile;
  return verdict.profile.get();
}

void draw_blocks(const BlockProfile& blocks, const Profile& profile, Svg& svg) {
  const std::vector<double> sizes = sizes_of(blocks.blocks, profile);
  const double largest = largest_finite(sizes);
  const double width = (kHeatWidth - kHeatLeft - 20) / static_cast<double>(blocks.across);
  for (std::int64_t i = 0; i < blocks.down * blocks.across; ++i) {
    const std::int64_t row = i / blocks.across, column = i % blocks.across;
    const double size = sizes[static_cast<std::size_t>(i)];
    svg.rect(kHeatLeft + static_cast<double>(column) * width,
             kHeatTop + static_cast<double>(row) * kHeatBlock, width - 1, kHeatBlock - 1,
             shade_of(size, largest),
             fmt::format("rows from {}, columns from {}: {}", row * blocks.block_rows,
                         column * blocks.block_columns, short_number(size)));
  }
  const double bottom = kHeatTop + static_cast<double>(blocks.down) * kHeatBlock;
  svg.text(kHeatLeft, kHeatTop - 10, "columns 0");
  svg.text(kHeatWidth - 20, kHeatTop - 10, fmt::format("{}", blocks.columns - 1), "end");
  svg.text(kHeatLeft - 8, kHeatTop + 12, "row 0", "end");
  svg.text(kHeatLeft - 8, bottom - 4, fmt::format("{}", blocks.rows - 1), "end");
}

/// One axis as a strip; bins that share a mark show the worst of theirs.
void draw_axis(const AxisProfile& axis, const Profile& profile, double y, Svg& svg) {
  constexpr std::size_t kMostBinsDrawn = 280;
  const std::vector<double> sizes = sizes_of(axis.bins, profile);
  const double largest = largest_finite(sizes);
  const std::size_t share = (sizes.size() + kMostBinsDrawn - 1) / kMostBinsDrawn;
  const std::size_t marks = (sizes.size() + share - 1) / share;
  const double width = (kHeatWidth - kHeatLeft - 20) / static_cast<double>(marks);
  for (std::size_t i = 0; i < marks; ++i) {
    const auto begin = sizes.begin() + static_cast<std::ptrdiff_t>(i * share);
    const auto end =
        sizes.begin() + static_cast<std::ptrdiff_t>(std::min((i + 1) * share, sizes.size()));
    const double size = *std::max_element(begin, end);
    const auto first = static_cast<std::int64_t>(i * share) * axis.slices_per_bin;
    svg.rect(kHeatLeft + static_cast<double>(i) * width, y, std::max(width - 0.5, 0.5),
             kHeatBlock - 2, shade_of(size, largest),
             fmt::format("{}: {}", slice_words(axis, first, first), short_number(size)));
  }
  svg.text(kHeatLeft - 8, y + 12, axis.name, "end");
}

std::string words_of(const Verdict& verdict, const Profile& profile) {
  const TensorResult* const result = verdict.shown && !verdict.tensors.empty()
                                         ? &verdict.tensors.front()
                                         : result_of_first(verdict);
  std::string words = result == nullptr ? "" : shown(result->identity) + " ";
  if (result != nullptr) words += bracketed(result->shape) + "; ";
  words += profile.pair ? "the darker, the larger the error beside what is usual there"
                        : "the darker, the larger the values";
  if (!profile.confined) return words + ".";
  const Confinement& where = *profile.confined;
  return words + fmt::format("; {} of it is within {}.", percent_words(where.share),
                             slice_words(profile.axes[where.axis], where.first, where.last));
}

}  // namespace

std::string html_tensor(const Verdict& verdict) {
  const Profile* const profile = profile_of(verdict);
  if (profile == nullptr || (!profile->blocks && profile->axes.empty())) return "";
  const double blocks =
      profile->blocks ? static_cast<double>(profile->blocks->down) * kHeatBlock + 20 : 0;
  Svg svg(kHeatWidth,
          kHeatTop + blocks + static_cast<double>(profile->axes.size()) * (kHeatBlock + 4) + 10);
  if (profile->blocks) draw_blocks(*profile->blocks, *profile, svg);
  double y = kHeatTop + blocks;
  for (const AxisProfile& axis : profile->axes) {
    draw_axis(axis, *profile, y, svg);
    y += kHeatBlock + 4;
  }
  return svg.figure("tensor", profile->pair ? "Where inside the tensor" : "Inside the tensor",
                    words_of(verdict, *profile));
}

}  // namespace ttcheck::reports
