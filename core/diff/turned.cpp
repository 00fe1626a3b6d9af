// SPDX-License-Identifier: Apache-2.0
#include "core/diff/turned.hpp"

#include <fmt/format.h>

#include <array>

#include "core/align/box_map.hpp"
#include "core/compare/compare.hpp"
#include "core/verdict/findings.hpp"
#include "core/verdict/judge.hpp"

namespace ttcheck::diff {
namespace {

bool is_plain(const Tensor& tensor) {
  return tensor.stored && tensor.reduce == Reduce::none && tensor.holes.empty() &&
         !is_complex(tensor.dtype);
}

/// The matrix as it reads with its axes exchanged.
Tensor turned(const Tensor& tensor) {
  const Shape whole = {tensor.shape[1], tensor.shape[0]};
  align::Link link{0, {0, 0}, {0, 0}, {{whole[0], 1, 0, 1, 1}, {whole[1], 0, 1, 1, 1}}};
  const align::BoxMap map{whole, {tensor.shape}, {std::move(link)}};
  const std::array<const Tensor*, 1> parts = {&tensor};
  return align::whole_of(map, parts);
}

}  // namespace

std::optional<Finding> turned_finding(const Tensor& reference, const Tensor& candidate,
                                      std::optional<std::int64_t> step) {
  const Shape& shape = reference.shape;
  const bool other_way = shape.size() == 2 && candidate.shape.size() == 2 && shape[0] != shape[1] &&
                         shape[0] == candidate.shape[1] && shape[1] == candidate.shape[0];
  const bool one_line = shape.size() == 2 && (shape[0] == 1 || shape[1] == 1);
  if (!other_way || one_line || !is_plain(reference) || !is_plain(candidate)) return std::nullopt;
  Metrics metrics;
  Tensor back;
  try {
    back = turned(candidate);
    const compare::Pair pair{&reference, &back};
    const auto compared = compare::compare(std::span(&pair, 1), {});
    if (!compared.front().whole()) return std::nullopt;
    metrics = compared.front().metrics;
  } catch (const Error&) {  // too many boxes: the shapes alone are said
    return std::nullopt;
  }
  Finding finding = verdict::shape_finding(reference, candidate, step);
  if (verdict::equal_under(reference, back, metrics)) {
    finding.code = Code::permutation;
    finding.message += "; it is the reference transposed";
    finding.hypotheses.push_back({"transpose", {}, 0, 1});
  } else {
    finding.message += fmt::format(
        "; transposed it has the reference's shape, and a relative error of {:.3g} is left",
        metrics.rel());
  }
  return finding;
}

}  // namespace ttcheck::diff
