// SPDX-License-Identifier: Apache-2.0
#include "core/diff/logged_norm.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ttcheck::diff {
namespace {

bool leaves_gradients_over(const MetStep& met) {
  const auto among = [&](std::size_t side, const std::vector<std::size_t>& left) {
    return std::ranges::any_of(left, [&](std::size_t i) {
      const Tensor& tensor = met.sides->at(side).assembly.tensors[i];
      return tensor.kind == Kind::main_grad && tensor.identity.phase == Phase::sync;
    });
  };
  return among(0, met.alignment.only_reference) || among(1, met.alignment.only_candidate);
}

std::optional<double> logged_by(const OpenedStep& side) {
  const Fact* fact = find_fact(side.facts, "grad_norm");
  return fact == nullptr ? std::nullopt : number_of(fact->value);
}

}  // namespace

std::optional<locate::GradientNorm> checked_norm(const MetStep& met,
                                                 std::span<const TensorResult> results,
                                                 const locate::LoggedNorm& logged) {
  if (leaves_gradients_over(met)) return std::nullopt;
  return locate::gradient_norm(results, logged);
}

std::vector<Finding> wrong_logged_norm(const MetStep& met, std::span<const TensorResult> results) {
  const auto reference = logged_by(met.sides->front());
  const auto candidate = logged_by(met.sides->back());
  if (!reference || !candidate || locate::logged_norm(results)) return {};
  const auto norm = checked_norm(met, results, {*reference, *candidate, {}});
  if (!norm || norm->error <= norm->limit) return {};
  Finding finding;
  finding.code = Code::norm_mismatch;
  finding.severity = Severity::error;
  finding.step = results.front().step;
  finding.phase = Phase::clip;
  finding.error = norm->error;
  finding.limit = norm->limit;
  finding.ratio = norm->error / norm->limit;
  finding.message = fmt::format(
      "the logged grad_norm {:.6g} is not the norm of the gradients, {:.6g}; off by "
      "{:.3g}, limit {:.3g}; the reference's is",
      *candidate, norm->actual, norm->error, norm->limit);
  return {std::move(finding)};
}

}  // namespace ttcheck::diff
