// SPDX-License-Identifier: Apache-2.0
#include "core/limits/spread.hpp"

#include <algorithm>
#include <cmath>

#include "core/base/glob.hpp"
#include "core/base/require.hpp"
#include "core/base/utf8.hpp"
#include "core/limits/model.hpp"

namespace ttcheck::limits {
namespace {

/// A limits file holds text only.
std::string glob_of(std::string_view name) {
  std::string glob;
  while (!name.empty()) {
    const auto point = first_code_point(name);
    const std::size_t length = point ? point->length : 1;
    if (point) {
      glob += literal_glob(name.substr(0, length));
    } else if (!glob.ends_with('*')) {
      glob += '*';
    }
    name.remove_prefix(length);
  }
  return glob;
}

}  // namespace

void Spread::add(const Tensor& tensor, const Sample& sample) {
  Identity identity = tensor.identity;
  identity.microbatch = identity.call = 0;
  const auto [place, fresh] = places_.try_emplace(std::move(identity), rows_.size());
  if (fresh) rows_.push_back({tensor, {}, {}});
  observe(context_, tensor);
  SpreadRow& row = rows_[place->second];
  row.largest.rel = std::max(row.largest.rel, sample.rel);
  row.largest.row = std::max(row.largest.row, sample.row);
  row.largest.outlier = std::max(row.largest.outlier, sample.outlier);
  row.rels.push_back(sample.rel);
}

std::vector<LimitEntry> Spread::entries() const {
  constexpr double kMedian = 0.5, kMost = 0.9;
  std::vector<LimitEntry> entries;
  entries.reserve(rows_.size());
  for (const SpreadRow& row : rows_) {
    if (row.tensor.identity.phase == Phase::none) continue;  // of states their distance tells
    LimitEntry& entry = entries.emplace_back();
    entry.match = glob_of(row.tensor.identity.name);
    entry.phase = row.tensor.identity.phase;
    entry.d = row.largest.rel;
    entry.row = row.largest.row;
    entry.outlier = row.largest.outlier;
    entry.eps = epsilon(context_.coarsest);
    entry.samples = std::ssize(row.rels);
    if (row.rels.size() < 2) continue;
    entry.p50 = quantile(row.rels, kMedian);
    entry.p90 = quantile(row.rels, kMost);
  }
  return entries;
}

double quantile(std::vector<double> values, double q) {
  require(!values.empty(), "some values");
  const double rank = std::ceil(q * static_cast<double>(values.size()));
  const auto at =
      std::clamp(static_cast<std::ptrdiff_t>(rank) - 1, std::ptrdiff_t{0}, std::ssize(values) - 1);
  std::ranges::nth_element(values, values.begin() + at);
  return values[static_cast<std::size_t>(at)];
}

double beyond_model(const SpreadRow& row, const LimitContext& context) {
  return row.largest.rel / model_limit(row.tensor, context).rel;
}

}  // namespace ttcheck::limits
