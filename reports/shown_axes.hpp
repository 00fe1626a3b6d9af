// SPDX-License-Identifier: Apache-2.0
#pragma once
// The axes of a profiled tensor: a strip of shades for each, then its worst slices.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/model/profile.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

std::string axes_section(const Profile& profile, const ReportOptions& options);

/// "rows 96-127", "head 3".
std::string slice_words(const AxisProfile& axis, std::int64_t first, std::int64_t last);

/// "99.9%"; "100%" only for all.
std::string percent_words(double share);

/// "[0:16, 12:24]".
std::string box_words(const Box& box);

/// bin_error of each.
std::vector<double> sizes_of(std::span<const Sums> bins, const Profile& profile);

double largest_finite(std::span<const double> sizes);

/// Places of the bins, the worst first, those without error left out; at most `most`.
std::vector<std::size_t> worst_bins(std::span<const double> sizes, std::size_t most);

}  // namespace ttcheck::reports
