// SPDX-License-Identifier: Apache-2.0
#pragma once
// The histogram of a profiled tensor.

#include <string>

#include "core/model/profile.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// A row for each power of two between the smallest and the largest that occur; several in a row
/// where they are many.
std::string histogram_section(const Profile& profile, const ReportOptions& options);

}  // namespace ttcheck::reports
