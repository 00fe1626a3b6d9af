// SPDX-License-Identifier: Apache-2.0
#include "core/explain/offset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ttcheck::explain {
namespace {

constexpr double kPenalty = 1.5;
constexpr double kPenaltySome = 12;     ///< where few rows or one block are wrong, that says more
constexpr std::int64_t kLeastSome = 4;  ///< elements; fewer have a common offset by chance
constexpr double kFit = 30;             ///< times that it must leave less than one of all

/// Whether one side is the same in all elements: then a constant was put in, not added.
bool is_constant(const std::vector<WrongElement>& elements, double WrongElement::* side) {
  return std::ranges::all_of(
      elements, [&](const WrongElement& one) { return one.*side == elements.front().*side; });
}

Explanation explanation(double c, double left2, double penalty, const Survey& seen) {
  Explanation found;
  found.code = Code::offset;
  found.hypothesis = {"offset", {{"c", c}}, std::sqrt(std::max(0.0, left2) / seen.sum_a2)};
  found.penalty = penalty;
  return found;
}

/// An offset of the elements alone that differ: what is masked, or routed elsewhere, is right.
std::optional<Explanation> offset_of_some(const Subject& subject, const Survey& seen) {
  if (seen.wrong < kLeastSome || seen.wrong >= subject.metrics().count) return std::nullopt;
  if (is_constant(seen.elements, &WrongElement::reference) ||
      is_constant(seen.elements, &WrongElement::candidate)) {
    return std::nullopt;
  }
  const double wrong_d2 = seen.sum_d2 - seen.right_d2;
  const double c = seen.wrong_d / static_cast<double>(seen.wrong);
  const double left2 = std::max(0.0, wrong_d2 - seen.wrong_d * c);
  Explanation found = explanation(c, left2 + seen.right_d2, kPenaltySome, seen);
  const std::string log = logarithm_of(c, subject);
  found.words = fmt::format("the {} elements of {} that differ are the reference + {:.6g}{}",
                            seen.wrong, subject.metrics().count, c, log.empty() ? "" : " = " + log);
  return found;
}

}  // namespace

std::string logarithm_of(double c, const Subject& subject) {
  for (const Axis& axis : subject.mesh->axes) {
    if (axis.size < 2) continue;
    const double log = std::log(static_cast<double>(axis.size));
    if (std::fabs(std::fabs(c) - log) <= 16 * subject.noise * std::max(1.0, log)) {
      return fmt::format("{}ln({})", c < 0 ? "-" : "", axis.name);
    }
  }
  return "";
}

std::optional<Explanation> offset(const Subject& subject, const Survey& seen) {
  const Metrics& metrics = subject.metrics();
  const auto count = static_cast<double>(metrics.count - metrics.taken_out);
  if (count < 1 || metrics.non_finite_disagree > 0 || !(seen.sum_a2 > 0)) return std::nullopt;
  if (!std::isfinite(seen.sum_a2) || !std::isfinite(seen.sum_d2)) return std::nullopt;
  const double c = seen.sum_d / count;
  const std::string log = logarithm_of(c, subject);
  if (count < 3 && log.empty()) return std::nullopt;
  const double left = seen.sum_d2 - seen.sum_d * c;
  Explanation found = explanation(c, left, kPenalty, seen);
  auto some = offset_of_some(subject, seen);
  if (some && some->hypothesis.residual * kFit < found.hypothesis.residual) return some;
  found.words =
      fmt::format("the candidate is the reference + {:.6g}{}", c, log.empty() ? "" : " = " + log);
  return found;
}

}  // namespace ttcheck::explain
