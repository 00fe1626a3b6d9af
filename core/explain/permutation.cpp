#include "core/explain/permutation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/explain/arrangement.hpp"
#include "core/explain/matching.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostElements = 1 << 25;
constexpr double kPenalty = 2;
constexpr double kFit = 30;  ///< times that a permutation must leave less than the error

std::string words_of(const Arrangement& arrangement, std::size_t dim) {
  std::string text = fmt::format("it is the reference in another order along dimension {}", dim);
  if (arrangement.name != "permutation") text += fmt::format(" ({})", arrangement.name);
  if (arrangement.order.empty()) return text;
  return text + fmt::format(": blocks of {} are those that stood at {}", arrangement.block,
                            fmt::join(arrangement.order, ", "));
}

std::optional<Explanation> along(const Subject& subject, const Sketches& a, const Sketches& b,
                                 std::size_t dim, double sum_a2) {
  const auto from = matching(a, b, subject.noise);
  if (!from || std::ranges::is_sorted(*from)) return std::nullopt;
  const Arrangement arrangement =
      arrangement_of({*from, subject.result->identity.name, subject.numbers, dim});
  // Of single numbers, close ones are found by chance.
  const bool numbers = subject.pair.reference->shape.size() < 2;
  if (numbers && arrangement.name == "permutation") return std::nullopt;
  Explanation found;
  found.code = Code::permutation;
  found.hypothesis.name = arrangement.name;
  if (arrangement.shift) found.hypothesis.parameters.emplace_back("n", *arrangement.shift);
  found.hypothesis.parameters.emplace_back("dimension", static_cast<std::int64_t>(dim));
  if (!arrangement.order.empty()) {
    found.hypothesis.parameters.emplace_back("order", arrangement.order);
  }
  found.hypothesis.residual = std::sqrt(left2(a, b, *from) / sum_a2);
  found.penalty = kPenalty;
  found.words = words_of(arrangement, dim);
  return found;
}

/// As if `dim` and the dimension behind it had changed places; their extents are equal. The slices
/// along both then number their other elements alike.
Explanation transposed(const std::vector<Sketches>& a, const std::vector<Sketches>& b,
                       std::size_t dim, double sum_a2) {
  double left2 = 0;
  for (std::size_t i = 0; i < b[dim].of.size(); ++i) {
    left2 += distance2(a[dim + 1].of[i], b[dim].of[i]);
  }
  Explanation found;
  found.code = Code::permutation;
  found.hypothesis = {"transpose", {}, std::sqrt(left2 / sum_a2), 0};
  found.penalty = kPenalty;
  found.words = "it is the reference transposed";
  if (b.size() == 2) return found;
  const auto first = static_cast<std::int64_t>(dim);
  found.hypothesis.parameters = {{"dimensions", std::vector<std::int64_t>{first, first + 1}}};
  found.words += fmt::format(" (its dimensions {} and {})", first, first + 1);
  return found;
}

}  // namespace

std::optional<Explanation> permutation(const Subject& subject, const Survey& seen) {
  const Shape& shape = subject.pair.reference->shape;
  const Metrics& metrics = subject.metrics();
  const std::int64_t count = element_count(shape);
  if (shape.empty() || count < 2 || count > kMostElements || seen.sum_a2 <= 0) return std::nullopt;
  if (metrics.non_finite_disagree > 0 || seen.wrong == 1) return std::nullopt;
  // The same numbers have the same norm.
  if (std::fabs(metrics.norm_ratio() - 1) > kSketchSigmas * subject.noise) return std::nullopt;
  const auto a = sketches_of(*subject.pair.reference, subject.pair.reference_map);
  const auto b = sketches_of(*subject.pair.candidate, subject.pair.candidate_map);
  std::optional<Explanation> best;
  const auto offer = [&](std::optional<Explanation> one) {
    if (!one || !(one->hypothesis.residual <= metrics.rel() / kFit)) return;
    if (!best || one->hypothesis.residual < best->hypothesis.residual) best = std::move(one);
  };
  for (std::size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] >= 2) offer(along(subject, a[dim], b[dim], dim, seen.sum_a2));
  }
  for (std::size_t dim = 0; dim + 1 < shape.size(); ++dim) {
    if (shape[dim] == shape[dim + 1]) offer(transposed(a, b, dim, seen.sum_a2));
  }
  return best;
}

}  // namespace ttcheck::explain
