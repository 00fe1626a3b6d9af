// SPDX-License-Identifier: Apache-2.0
#include "core/model/metric_rows.hpp"

#include <array>
#include <type_traits>

namespace ttcheck {
namespace {

template <auto kMember, class Of = Metrics>
MetricValue value(const Of& of) {
  if constexpr (std::is_member_function_pointer_v<decltype(kMember)>) {
    return (of.*kMember)();
  } else {
    return of.*kMember;
  }
}

template <auto kMember, class Of = Metrics>
MetricValue index(const Of& of) {
  return LinearIndex{of.*kMember};
}

template <auto kMember>
MetricValue slice(const Detail& detail) {
  return SliceNumber{detail.*kMember};
}

constexpr std::array kRows = {
    MetricRow{"count", "elements compared", value<&Metrics::count>},
    MetricRow{"rel", "norm of the difference over the norm of the reference", value<&Metrics::rel>},
    MetricRow{"max_abs", "largest absolute difference", value<&Metrics::max_abs>},
    MetricRow{"max_abs_index", "where it is", index<&Metrics::max_abs_index>},
    MetricRow{"max_rel", "largest difference over the larger magnitude of the two",
              value<&Metrics::max_rel>},
    MetricRow{"max_rel_index", "where it is", index<&Metrics::max_rel_index>},
    MetricRow{"max_quotient",
              "largest difference over atol + rtol |a|, where tolerances were given; else 0",
              value<&Metrics::max_quotient>},
    MetricRow{"max_quotient_index", "where it is", index<&Metrics::max_quotient_index>},
    MetricRow{"rmse", "root of the mean squared difference", value<&Metrics::rmse>},
    MetricRow{"cosine", "cosine of the angle between the two", value<&Metrics::cosine>},
    MetricRow{"norm_ratio", "norm of the candidate over the norm of the reference",
              value<&Metrics::norm_ratio>},
    MetricRow{"unequal_bits", "elements whose bits differ in the common dtype",
              value<&Metrics::unequal_bits>},
    MetricRow{"unequal_values", "elements whose values differ", value<&Metrics::unequal_values>},
    MetricRow{"beyond_close", "elements beyond the defaults of torch.testing.assert_close",
              value<&Metrics::beyond_close>},
    MetricRow{"non_finite_reference", "NaNs and infinities in the reference",
              value<&Metrics::reference>},
    MetricRow{"non_finite_candidate", "NaNs and infinities in the candidate",
              value<&Metrics::candidate>},
    MetricRow{"non_finite_disagree",
              "elements that are NaN or infinite on one side only, or with another sign",
              value<&Metrics::non_finite_disagree>},
    MetricRow{"non_finite_index", "the first of them", index<&Metrics::non_finite_index>},
    MetricRow{"taken_out", "elements that are not finite on both sides: no sum counts them",
              value<&Metrics::taken_out>},
};

constexpr std::array kDetailRows = {
    DetailRow{"row_error",
              "norm of the difference of the worst row (along the last axis) over the norm of that "
              "row or the rms of all rows' norms, whichever is larger",
              value<&Detail::row_error, Detail>},
    DetailRow{"row", "which row it is", slice<&Detail::row>},
    DetailRow{"outlier",
              "largest difference over the reference's value or its rms, whichever is larger",
              value<&Detail::outlier, Detail>},
    DetailRow{"outlier_index", "where it is", index<&Detail::outlier_index, Detail>},
    DetailRow{"column", "the place along the last axis with the largest sum of squared differences",
              slice<&Detail::column>},
    DetailRow{
        "ulp_quantiles",
        "for the quantiles 0.5, 0.9, 0.99 and 1 the distance that this share of elements does "
        "not exceed, in units in the last place of the coarser dtype",
        value<&Detail::ulp_quantiles, Detail>},
};

}  // namespace

std::span<const MetricRow> metric_rows() { return kRows; }
std::span<const DetailRow> detail_rows() { return kDetailRows; }

}  // namespace ttcheck
