// SPDX-License-Identifier: Apache-2.0
#include "core/noise/wider.hpp"

#include <fmt/format.h>

#include "core/noise/excuse.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::noise {

bool is_within(const TensorResult& result, const Through& through, bool places) {
  if (!(result.metrics.rel() <= result.limit.rel + through.rel)) return false;
  if (!places) return true;
  if (!result.detail) {
    return result.metrics.max_abs <=
           (result.limit.outlier + through.outlier) * result.metrics.reference_rms();
  }
  return result.detail->row_error <= result.limit.row + through.row &&
         result.detail->outlier <= result.limit.outlier + through.outlier;
}

void widen(TensorResult& result, const Through& through, std::string_view rule,
           std::string_view why) {
  result.limit.rel += through.rel;
  result.limit.row += through.row;
  result.limit.outlier += through.outlier;
  result.limit.source += fmt::format(" + {:.2g} {}", through.rel, why);
  verdict::set_test(result, Test::rel, result.metrics.rel(), result.limit.rel);
  excuse(result, rule, through.rel);
}

}  // namespace ttcheck::noise
