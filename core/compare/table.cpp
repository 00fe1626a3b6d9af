#include <array>

#include "core/compare/compare.hpp"

namespace ttcheck::compare {
namespace {

template <auto kMember>
double field(const Metrics& metrics) {
  if constexpr (std::is_member_function_pointer_v<decltype(kMember)>) {
    return (metrics.*kMember)();
  } else {
    return static_cast<double>(metrics.*kMember);
  }
}

template <auto kSide, auto kCount>
double count_of(const Metrics& metrics) {
  return static_cast<double>(metrics.*kSide.*kCount);
}

constexpr std::array kRows = {
    MetricRow{"count", "elements compared", field<&Metrics::count>},
    MetricRow{"rel", "norm of the difference over the norm of the reference", field<&Metrics::rel>},
    MetricRow{"max_abs", "largest absolute difference", field<&Metrics::max_abs>},
    MetricRow{"max_rel", "largest difference over the larger magnitude of the two",
              field<&Metrics::max_rel>},
    MetricRow{"rmse", "root of the mean squared difference", field<&Metrics::rmse>},
    MetricRow{"cosine", "cosine of the angle between the two", field<&Metrics::cosine>},
    MetricRow{"norm_ratio", "norm of the candidate over the norm of the reference",
              field<&Metrics::norm_ratio>},
    MetricRow{"unequal_bits", "elements whose bits differ in the common dtype",
              field<&Metrics::unequal_bits>},
    MetricRow{"unequal_values", "elements whose values differ", field<&Metrics::unequal_values>},
    MetricRow{"beyond_close", "elements beyond the defaults of torch.testing.assert_close",
              field<&Metrics::beyond_close>},
    MetricRow{"max_quotient",
              "largest difference over atol + rtol |a|, where tolerances were given",
              field<&Metrics::max_quotient>},
    MetricRow{"non_finite_disagree",
              "elements that are NaN or infinite on one side only, or with another sign",
              field<&Metrics::non_finite_disagree>},
    MetricRow{"reference_nan", "NaNs in the reference",
              count_of<&Metrics::reference, &NonFinite::nan>},
    MetricRow{"reference_plus_inf", "positive infinities in the reference",
              count_of<&Metrics::reference, &NonFinite::plus_inf>},
    MetricRow{"reference_minus_inf", "negative infinities in the reference",
              count_of<&Metrics::reference, &NonFinite::minus_inf>},
    MetricRow{"candidate_nan", "NaNs in the candidate",
              count_of<&Metrics::candidate, &NonFinite::nan>},
    MetricRow{"candidate_plus_inf", "positive infinities in the candidate",
              count_of<&Metrics::candidate, &NonFinite::plus_inf>},
    MetricRow{"candidate_minus_inf", "negative infinities in the candidate",
              count_of<&Metrics::candidate, &NonFinite::minus_inf>},
};

}  // namespace

std::span<const MetricRow> metrics() { return kRows; }

}  // namespace ttcheck::compare
