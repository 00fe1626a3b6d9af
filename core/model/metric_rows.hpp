// SPDX-License-Identifier: Apache-2.0
#pragma once
// The tables of metrics: what a report lists of a compared pair, in order.

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/model/metrics.hpp"

namespace ttcheck {

/// A row-major linear index of the logical tensor; -1: none.
struct LinearIndex {
  std::int64_t at = -1;
};

/// The number of a row or a column; -1: none.
struct SliceNumber {
  std::int64_t at = -1;
};

using Quantiles = std::vector<std::pair<double, std::uint64_t>>;
using MetricValue =
    std::variant<std::int64_t, double, LinearIndex, NonFinite, SliceNumber, Quantiles>;

template <class Of>
struct RowOf {
  std::string_view name;
  std::string_view summary;
  MetricValue (*value)(const Of& of);
};

using MetricRow = RowOf<Metrics>;
using DetailRow = RowOf<Detail>;

std::span<const MetricRow> metric_rows();
std::span<const DetailRow> detail_rows();  ///< of the second pass, where a tensor needed one

}  // namespace ttcheck
