// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which tensors a report lists.

#include <ranges>

#include "core/model/verdict.hpp"
#include "reports/report.hpp"

namespace ttcheck::reports {

/// All that are not equal, with --all every one. Both must outlive the view.
inline auto listed(const Verdict& verdict, const ReportOptions& options) {
  return verdict.tensors | std::views::filter([&options](const TensorResult& one) {
           return options.all || one.outcome() != Outcome::equal;
         });
}

}  // namespace ttcheck::reports
