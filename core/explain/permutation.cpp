// SPDX-License-Identifier: Apache-2.0
#include "core/explain/permutation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/explain/arrangement.hpp"
#include "core/explain/matching.hpp"

namespace ttcheck::explain {
namespace {

constexpr std::int64_t kMostElements = 1 << 25;
constexpr std::int64_t kMostAlong = 1 << 20;  ///< along one dimension; an order of more has no name
constexpr double kPenalty = 2;
constexpr double kNear = 1e-2;  ///< of A's squares; what changed places is apart by twice those
constexpr double kFit = 30;     ///< times that a permutation must leave less than the error

/// What is looked at: all of a pair, or the one slice across dimension 0 that is wrong.
struct Look {
  std::optional<std::int64_t> slice;
  std::vector<Sketches> a, b;
  double beside2 = 0;  ///< left where it is not looked
  double sum_a2;

  std::size_t dimension(std::size_t i) const { return i + (slice ? 1 : 0); }
  std::string words() const {
    return slice ? fmt::format("its slice {} is that of", *slice) : "it is";
  }
  double residual(double left2) const { return std::sqrt((left2 + beside2) / sum_a2); }
};

std::string words_of(const Arrangement& arrangement, const Look& look, std::size_t dim) {
  std::string text =
      fmt::format("{} the reference in another order along dimension {}", look.words(), dim);
  if (arrangement.name != "permutation") text += fmt::format(" ({})", arrangement.name);
  if (arrangement.order.empty()) return text;
  return text + fmt::format(": blocks of {} are those that stood at {}", arrangement.block,
                            fmt::join(arrangement.order, ", "));
}

std::optional<Explanation> along(const Subject& subject, const Look& look, std::size_t i) {
  const auto from = matching(look.a[i], look.b[i], subject.noise);
  if (!from || std::ranges::is_sorted(*from)) return std::nullopt;
  const std::size_t dim = look.dimension(i);
  const Arrangement arrangement =
      arrangement_of({*from, subject.result->identity.name, subject.numbers, dim});
  // Of single numbers, close ones are found by chance.
  const bool numbers = look.a.size() < 2;
  if (numbers && arrangement.name == "permutation") return std::nullopt;
  Explanation found;
  found.code = Code::permutation;
  found.hypothesis.name = arrangement.name;
  auto& parameters = found.hypothesis.parameters;
  if (arrangement.shift) parameters.emplace_back("n", *arrangement.shift);
  parameters.emplace_back("dimension", static_cast<std::int64_t>(dim));
  if (look.slice) parameters.emplace_back("slice", *look.slice);
  if (!arrangement.order.empty()) parameters.emplace_back("order", arrangement.order);
  found.hypothesis.residual = look.residual(left2(look.a[i], look.b[i], *from));
  found.penalty = kPenalty;
  found.words = words_of(arrangement, look, dim);
  return found;
}

/// Explains the candidate as if that dimension and the one behind it had changed places; their
/// extents are equal. The slices along both then number their other elements alike.
Explanation transposed(const Look& look, std::size_t i) {
  double left2 = 0;
  for (std::size_t j = 0; j < look.b[i].of.size(); ++j) {
    left2 += distance2(look.a[i + 1].of[j], look.b[i].of[j]);
  }
  Explanation found;
  found.code = Code::permutation;
  found.hypothesis = {"transpose", {}, look.residual(left2)};
  found.penalty = kPenalty;
  found.words = look.words() + " the reference transposed";
  if (look.dimension(look.b.size()) == 2) return found;
  const auto first = static_cast<std::int64_t>(look.dimension(i));
  found.hypothesis.parameters = {{"dimensions", std::vector<std::int64_t>{first, first + 1}}};
  if (look.slice) found.hypothesis.parameters.emplace_back("slice", *look.slice);
  found.words += fmt::format(" (its dimensions {} and {})", first, first + 1);
  return found;
}

/// One expert of a stack, if nothing else is wrong.
std::optional<std::int64_t> wrong_slice(const Shape& shape, const Survey& seen) {
  if (shape.size() < 3 || seen.slices[0].d2.empty() || seen.lo[0] != seen.hi[0]) return {};
  return element_count(shape) / shape[0] % 2 == 0 ? std::optional(seen.lo[0]) : std::nullopt;
}

/// The sum of all but one.
double beside(const std::vector<double>& d2, std::int64_t slice) {
  double sum = 0;
  for (std::size_t i = 0; i < d2.size(); ++i) sum += std::cmp_equal(i, slice) ? 0 : d2[i];
  return sum;
}

}  // namespace

std::optional<Explanation> permutation(const Subject& subject, const Survey& seen) {
  const compare::Pair& pair = subject.pair;
  const Shape& shape = pair.reference->shape;
  const Metrics& metrics = subject.metrics();
  Look look;
  look.slice = wrong_slice(shape, seen);
  if (element_count(shape) / (look.slice ? shape[0] : 1) > kMostElements) return std::nullopt;
  if (metrics.non_finite_disagree > 0 || seen.wrong == 1) return std::nullopt;
  const auto has_name = [](std::int64_t extent) { return extent <= kMostAlong; };
  if (std::ranges::none_of(shape, has_name)) return std::nullopt;
  // As a sample has it, most of B is by little what stands there in A.
  if (seen.most_ranges_differ && seen.sum_d2 < kNear * seen.sum_a2) return std::nullopt;
  // The same numbers have the same norm.
  if (std::fabs(metrics.norm_ratio() - 1) > kSketchSigmas * subject.noise) return std::nullopt;
  look.a = sketches_of(*pair.reference, pair.reference_map, look.slice);
  look.b = sketches_of(*pair.candidate, pair.candidate_map, look.slice);
  if (look.slice) look.beside2 = beside(seen.slices[0].d2, *look.slice);
  look.sum_a2 = seen.sum_a2;
  std::optional<Explanation> best;
  const auto offer = [&](std::optional<Explanation> one) {
    if (!one || !(one->hypothesis.residual <= metrics.rel() / kFit)) return;
    if (!best || one->hypothesis.residual < best->hypothesis.residual) best = std::move(one);
  };
  for (std::size_t i = 0; i < look.a.size(); ++i) {
    if (has_name(std::ssize(look.a[i].of))) offer(along(subject, look, i));
  }
  for (std::size_t i = 0; i + 1 < look.a.size(); ++i) {
    if (look.a[i].of.size() == look.a[i + 1].of.size()) offer(transposed(look, i));
  }
  return best;
}

}  // namespace ttcheck::explain
