// SPDX-License-Identifier: Apache-2.0
#include "core/explain/mean_of_means.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/explain/values.hpp"
#include "core/model/decode.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostElements = 65536;
constexpr double kPenalty = 1.5;
constexpr double kIgnored = -100;  ///< labels that torch.nn.functional.cross_entropy leaves out

/// The starts of the parts of the first dimension, if pieces cut it and nothing else.
std::vector<std::int64_t> cuts_of(const Tensor& tensor) {
  std::vector<std::int64_t> begins;
  for (const Piece& piece : tensor.pieces) {
    if (piece.cells.size() != 1) return {};
    const Box& box = piece.cells[0].box;
    for (std::size_t dim = 1; dim < tensor.shape.size(); ++dim) {
      if (box.size[dim] != tensor.shape[dim]) return {};
    }
    begins.push_back(box.lo[0]);
  }
  std::ranges::sort(begins);
  return begins;
}

/// Tokens that count in each part: of labels those not ignored, of a mask or of losses those not 0.
std::vector<std::int64_t> counts_of(const Tensor& tensor, std::size_t parts) {
  const std::int64_t count = element_count(tensor.shape);
  if (tensor.shape.empty() || count == 0 || count > kMostElements || !tensor.holes.empty() ||
      is_complex(tensor.dtype)) {
    return {};
  }
  const std::vector<std::int64_t> begins = cuts_of(tensor);
  if (begins.size() != parts) return {};
  std::vector<double> values(static_cast<std::size_t>(count));
  read_values(tensor, nullptr, 0, values);
  const double ignored = is_exact(tensor.dtype) && bits(tensor.dtype) >= 16 ? kIgnored : 0;
  const std::int64_t row = count / tensor.shape[0];
  std::vector<std::int64_t> counts(parts);
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[static_cast<std::size_t>(i)] == ignored) continue;
    const auto part = std::ranges::upper_bound(begins, i / row) - begins.begin() - 1;
    if (part >= 0) ++counts[static_cast<std::size_t>(part)];
  }
  return counts;
}

std::vector<double> values_of_term(const Tensor& tensor, std::size_t term) {
  Tensor one;
  one.dtype = tensor.dtype;
  one.shape = tensor.shape;
  one.pieces = tensor.terms[term];
  std::vector<double> values(static_cast<std::size_t>(element_count(tensor.shape)));
  read_values(one, nullptr, 0, values);
  return values;
}

}  // namespace

std::optional<Explanation> mean_of_means(const Subject& subject) {
  const Tensor& candidate = *subject.pair.candidate;
  const std::size_t parts = candidate.terms.size();
  const std::int64_t count = element_count(candidate.shape);
  const bool sums = candidate.reduce == Reduce::sum || candidate.reduce == Reduce::avg;
  if (!sums || count > kMostElements || subject.pair.mapped() || is_complex(candidate.dtype)) {
    return std::nullopt;
  }
  std::vector<double> reference(static_cast<std::size_t>(count));
  read_values(*subject.pair.reference, nullptr, 0, reference);
  double sum_a2 = 0;
  for (const double a : reference) sum_a2 += a * a;
  std::vector<std::vector<double>> terms;
  for (std::size_t term = 0; term < parts; ++term) terms.push_back(values_of_term(candidate, term));
  std::optional<Explanation> best;
  for (const Tensor* tokens : subject.beside) {
    const std::vector<std::int64_t> counts = counts_of(*tokens, parts);
    const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
    // Where all count as many, if any, the mean of means is the mean.
    if (std::ranges::adjacent_find(counts, std::not_equal_to<>()) == counts.end()) continue;
    double left2 = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      double sum = 0;
      for (std::size_t term = 0; term < parts; ++term) {
        const double share = static_cast<double>(counts[term]) / static_cast<double>(all);
        const double each = candidate.reduce == Reduce::sum ? static_cast<double>(parts) : 1;
        sum += terms[term][i] * each * share;
      }
      left2 += (sum - reference[i]) * (sum - reference[i]);
    }
    const double residual = std::sqrt(left2 / sum_a2);
    if (!std::isfinite(residual) || (best && best->hypothesis.residual <= residual)) continue;
    best.emplace();
    best->code = Code::mean_of_means;
    best->hypothesis = {"mean-of-means", {{"n", counts}}, residual};
    best->penalty = kPenalty;
    best->words =
        fmt::format("each micro-batch was normalised by its own tokens ({}), not by all {}",
                    fmt::join(counts, ", "), all);
  }
  return best;
}

}  // namespace ttcheck::explain
