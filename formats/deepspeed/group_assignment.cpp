// SPDX-License-Identifier: Apache-2.0
#include "formats/deepspeed/group_assignment.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "core/base/checked.hpp"
#include "core/model/decode.hpp"
#include "formats/deepspeed/candidate_parameters.hpp"
#include "formats/deepspeed/partition_cuts.hpp"
#include "formats/deepspeed/values.hpp"

namespace ttcheck::formats {
namespace {

constexpr std::int64_t kSample = 8;           ///< elements of a parameter that are looked at
constexpr std::size_t kBytes = kSample * 16;  ///< of the widest dtype

/// The first elements of a row-major array from element `begin` on.
std::array<double, 2 * kSample> values_at(const Source& source, std::uint64_t offset, DType dtype,
                                          std::int64_t count) {
  std::array<std::byte, kBytes> bytes{};
  std::array<double, 2 * kSample> values{};
  const auto size = static_cast<std::size_t>(byte_size(dtype, count));
  source.read(offset, std::span(bytes).first(size));
  to_doubles(dtype, bytes.data(), count, values.data());
  return values;
}

/// Whether the masters from `begin` of the row on round to the weight.
bool rounds_to(const TorchTensor& row, std::int64_t begin, const DeepspeedWeight& weight) {
  const std::int64_t count = std::min(element_count(weight.shape), kSample);
  if (is_complex(row.dtype) || is_complex(weight.dtype)) return false;
  const auto masters =
      values_at(*row.piece.source, checked_add(row.piece.offset, byte_size(row.dtype, begin)),
                row.dtype, count);
  const auto stored = values_at(*weight.source, weight.offset, weight.dtype, count);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const double rounded = value_of(weight.dtype, code_of(weight.dtype, masters[i]));
    if (rounded != stored[i] && (rounded == rounded || stored[i] == stored[i])) return false;
  }
  return true;
}

/// Parameters whose masters in the row are not their weights.
std::int64_t doubtful(const TorchTensor& row, const std::vector<Candidate>& parameters,
                      const WeightsByName& weights) {
  const auto starts = starts_of(parameters, {});
  std::int64_t count = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto weight = weights.find(parameters[i].name);
    if (weight == weights.end()) continue;
    try {
      if (!rounds_to(row, starts[i], *weight->second)) ++count;
    } catch (const Error&) {  // said where the tensor itself is read
      ++count;
    }
  }
  return count;
}

/// All in one group; in two the matrices and the rest, which are trained with decay and without.
std::vector<std::vector<std::vector<Candidate>>> ways(const std::vector<Candidate>& parameters,
                                                      std::size_t groups) {
  if (groups == 1) return {{parameters}};
  if (groups != 2) return {};
  std::vector<Candidate> matrices, rest;
  for (const Candidate& one : parameters) (one.shape.size() > 1 ? matrices : rest).push_back(one);
  return {{matrices, rest}, {rest, matrices}};
}

std::optional<DeepspeedAssigned> assign_flat(const TorchFile& file,
                                             const std::vector<OptimizerGroup>& groups,
                                             const std::vector<Candidate>& parameters,
                                             const WeightsByName& weights) {
  std::vector<TorchTensor> rows;
  for (const OptimizerGroup& group : groups) rows.push_back(row_of_elements(file, group.flat));
  std::optional<DeepspeedAssigned> best;
  for (auto& way : ways(parameters, groups.size())) {
    DeepspeedAssigned made{std::move(way), false, 0};
    bool fits = true;
    for (std::size_t g = 0; g < rows.size() && fits; ++g) {
      fits = starts_of(made.groups[g], {}).back() == rows[g].shape[0];
      if (fits) made.doubtful += doubtful(rows[g], made.groups[g], weights);
    }
    if (fits && (!best || made.doubtful < best->doubtful)) best = std::move(made);
  }
  // One changed weight leaves the rest right; where most are wrong the order is.
  const auto all = std::ssize(parameters);
  if (best && best->doubtful > 1 && 2 * best->doubtful > all) return std::nullopt;
  return best;
}

}  // namespace

WeightsByName weights_of(const DeepspeedTag& tag, const std::vector<DeepspeedWeight>& weights,
                         std::int64_t mp) {
  WeightsByName found;
  for (const DeepspeedWeight& weight : weights) {
    if (weight.rank != kNoRank && weight.rank != tag.ranks.rank(0, mp)) continue;
    if (may_be_of(tag, weight, mp)) found.emplace(weight.name, &weight);
  }
  return found;
}

bool begin_alike(const DeepspeedWeight& a, const DeepspeedWeight& b) {
  const std::int64_t count = std::min(element_count(a.shape), kSample);
  if (a.shape != b.shape || a.dtype != b.dtype || count == 0) return false;
  const auto values = values_at(*a.source, a.offset, a.dtype, count);
  const bool constant =
      std::ranges::all_of(std::span(values).first(static_cast<std::size_t>(count)),
                          [&](double value) { return value == values[0]; });
  return !constant && values == values_at(*b.source, b.offset, b.dtype, count);
}

std::optional<DeepspeedAssigned> assign(const TorchFile& file,
                                        const std::vector<OptimizerGroup>& groups,
                                        const std::vector<Candidate>& parameters,
                                        const WeightsByName& weights) {
  const bool flat = std::ranges::any_of(
      groups, [](const OptimizerGroup& group) { return static_cast<bool>(group.flat); });
  if (flat) return assign_flat(file, groups, parameters, weights);
  DeepspeedAssigned made;
  const auto matched = match_groups(shapes_of_groups(file, groups), parameters, made.ambiguous);
  if (matched.empty()) return std::nullopt;
  for (const std::vector<std::size_t>& group : matched) {
    std::vector<Candidate>& own = made.groups.emplace_back();
    for (const std::size_t i : group) own.push_back(parameters[i]);
  }
  return made;
}

}  // namespace ttcheck::formats
