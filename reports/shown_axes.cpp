// SPDX-License-Identifier: Apache-2.0
#include "reports/shown_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "reports/columns.hpp"
#include "reports/escape.hpp"
#include "reports/heat.hpp"
#include "reports/paint.hpp"
#include "reports/words.hpp"

namespace ttcheck::reports {
namespace {

constexpr std::size_t kSlicesListed = 3;
constexpr std::size_t kMargin = 14;  // before a strip, and behind it
constexpr std::size_t kLongestName = 12;

std::string strips(const Profile& profile, const ReportOptions& options) {
  double largest = 0;
  std::vector<std::vector<double>> sizes;
  for (const AxisProfile& axis : profile.axes) {
    sizes.push_back(sizes_of(axis.bins, profile));
    largest = std::max(largest, largest_finite(sizes.back()));
  }
  const Heat heat(largest, options.unicode);
  const auto columns = static_cast<std::size_t>(std::max(options.width, 60)) - 2 * kMargin;
  std::string text = labelled("", heat.legend(), options.width);
  for (std::size_t i = 0; i < profile.axes.size(); ++i) {
    const AxisProfile& axis = profile.axes[i];
    text += fmt::format("{:>{}} |{}| {}\n", terminal_text(axis.name, kLongestName), kMargin - 2,
                        heat.strip(sizes[i], columns),
                        axis.name == "head" ? axis.extent / axis.slices_per_bin : axis.extent);
  }
  return text;
}

std::string worst_table(const Profile& profile, const ReportOptions& options) {
  Columns columns("lrrrr");
  columns.add(
      profile.pair
          ? std::vector<std::string>{"Worst slices", "error", "of it", "max |b-a|", "differ"}
          : std::vector<std::string>{"Largest slices", "rms", "of it", "max |a|", ""});
  const double whole = profile.pair ? profile.all.d2 : profile.all.a2;
  for (const AxisProfile& axis : profile.axes) {
    const std::vector<double> sizes = sizes_of(axis.bins, profile);
    for (const std::size_t bin : worst_bins(sizes, kSlicesListed)) {
      const Sums& sums = axis.bins[bin];
      const auto first = static_cast<std::int64_t>(bin) * axis.slices_per_bin;
      const auto last = std::min(first + axis.slices_per_bin, axis.extent) - 1;
      const double own = profile.pair ? sums.d2 : sums.a2;
      columns.add({slice_words(axis, first, last), short_number(sizes[bin]),
                   whole > 0 ? percent_words(own / whole) : "", short_number(sums.largest),
                   profile.pair ? thousands(sums.unequal) : ""});
    }
  }
  if (columns.rows() == 1) return "";
  const std::string text = columns.text(0);
  const std::size_t heading = text.find('\n');
  return "\n" + Paint(options.color).bold(text.substr(0, heading)) + text.substr(heading);
}

}  // namespace

std::string slice_words(const AxisProfile& axis, std::int64_t first, std::int64_t last) {
  std::string name = terminal_text(axis.name);
  if (axis.name == "head") {
    first /= axis.slices_per_bin;
    last /= axis.slices_per_bin;
  }
  if (first == last) return fmt::format("{} {}", name == "elements" ? "element" : name, first);
  if (name == "row" || name == "column" || name == "head" || name == "expert" ||
      name == "position") {
    name += "s";
  }
  return fmt::format("{} {}-{}", name, first, last);
}

std::string percent_words(double share) {
  if (!std::isfinite(share)) return "-";
  constexpr double kRounding = 1e-12;  // of sums
  if (share < 1 - kRounding && share > 0.999) return "99.9%";
  return fmt::format("{:.3g}%", 100 * share);
}

std::string box_words(const Box& box) {
  std::string text;
  for (std::size_t d = 0; d < box.lo.size(); ++d) {
    text += fmt::format("{}{}:{}", d == 0 ? "" : ", ", box.lo[d], box.lo[d] + box.size[d]);
  }
  return "[" + text + "]";
}

std::vector<double> sizes_of(std::span<const Sums> bins, const Profile& profile) {
  std::vector<double> sizes;
  sizes.reserve(bins.size());
  for (const Sums& bin : bins) sizes.push_back(bin_error(bin, profile));
  return sizes;
}

double largest_finite(std::span<const double> sizes) {
  double largest = 0;
  for (const double size : sizes) {
    if (std::isfinite(size)) largest = std::max(largest, size);
  }
  return largest;
}

std::vector<std::size_t> worst_bins(std::span<const double> sizes, std::size_t most) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t i) { return sizes[i]; });
  std::erase_if(order, [&](std::size_t i) { return !(sizes[i] > 0); });
  order.resize(std::min(order.size(), most));
  return order;
}

std::string axes_section(const Profile& profile, const ReportOptions& options) {
  if (profile.axes.empty() || (profile.pair && profile.all.unequal == 0)) return "";
  const std::string title = profile.pair ? "Error by axis" : "Rms by axis";
  return "\n" + Paint(options.color).bold(title) + "\n" + strips(profile, options) +
         worst_table(profile, options);
}

}  // namespace ttcheck::reports
