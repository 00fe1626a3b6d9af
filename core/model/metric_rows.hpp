#pragma once
// The table of metrics: what a report lists of a compared pair, in order.

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "core/model/metrics.hpp"

namespace ttcheck {

/// A row-major linear index of the logical tensor; -1: none.
struct LinearIndex {
  std::int64_t at = -1;
};

using MetricValue = std::variant<std::int64_t, double, LinearIndex, NonFinite>;

struct MetricRow {
  std::string_view name;
  std::string_view summary;
  MetricValue (*value)(const Metrics& metrics);
};

std::span<const MetricRow> metric_rows();

}  // namespace ttcheck
